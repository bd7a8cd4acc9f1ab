#include "io/html/assets.h"

namespace thimble::io {

// Bars are drawn on one canvas and what follows the mouse on another above it, so that moving the
// mouse does not redraw thousands of bars.
const char* const kTimelineScript = R"js(
const HUES = { activation: 215, gradient: 22, input: 150, label: 175, workspace: 285, scalar: 330,
  parameter: 48, state: 95 };
const isDark = () => matchMedia('(prefers-color-scheme: dark)').matches;
const roleColour = role => 'hsl(' + (HUES[role] ?? 0) + (isDark() ? ' 55% 56%)' : ' 62% 60%)');
const PLAN = DATA.plan, BARS = PLAN.buffers;
const ASIDE = PLAN.pipeline + PLAN.reserved;
const TOTAL = Math.max(PLAN.peak + ASIDE, PLAN.arena), BASE = TOTAL - PLAN.arena;
// Memory held during the whole step, from the bottom.
const RESIDENT = PLAN.inFile
  ? [['parameters and state in memory', PLAN.parameters + PLAN.state - PLAN.inFile, 95]]
  : [['parameters', PLAN.parameters, 48], ['optimizer state, statistics', PLAN.state, 95]];
const BANDS = RESIDENT.concat([['staging for the swap file', PLAN.staging, 200],
  ['input pipeline', PLAN.pipeline, 150]]);
BANDS.push(['constants of all batches, padding', BASE - BANDS.reduce((sum, b) => sum + b[1], 0), 0]);
const bandColour = hue => 'hsl(' + hue + (isDark() ? ' 22% 34%)' : ' 32% 82%)');

// A budget far above the peak would leave the bars no room, so it is only named.
const budgetInside = PLAN.budget > 0 && PLAN.budget <= 1.4 * TOTAL;
const TOP = Math.max(TOTAL, budgetInside ? PLAN.budget : 0, 1) * 1.03;
// Share of the height for memory held all the time: true to scale up to a fifth.
const BASE_SHARE = Math.min(BASE / TOP, 0.2), BROKEN = BASE_SHARE < BASE / TOP;
const level = v => v <= BASE ? (BASE ? v / BASE * BASE_SHARE : 0)
  : BASE_SHARE + (v - BASE) / (TOP - BASE) * (1 - BASE_SHARE);
const unlevel = u => u <= BASE_SHARE ? (BASE_SHARE ? u / BASE_SHARE * BASE : 0)
  : BASE + (u - BASE_SHARE) / (1 - BASE_SHARE) * (TOP - BASE);

// The part of the picture that is shown: ops, and shares of the height.
const WHOLE = { from: 0, to: Math.max(PLAN.steps.op.length, 1), low: 0, high: 1 };
let view = { ...WHOLE };
let frame = null;  // positions in the last drawing

function measure(w, h) {
  const box = { left: w < 500 ? 70 : 78, right: 10, top: 14, bottom: 40 };
  const x = scale(view.from, view.to, box.left, w - box.right);
  const u = scale(view.low, view.high, h - box.bottom, box.top);
  return { w, h, box, x, y: { at: v => u.at(level(v)), back: p => unlevel(u.back(p)) } };
}
// Stripes that mark recomputed values (rising) and values read back from the swap file (falling).
function stripes(g, rising) {
  const ratio = devicePixelRatio || 1, size = 7 * ratio;
  const tile = document.createElement('canvas');
  tile.width = tile.height = size;
  const t = tile.getContext('2d');
  t.strokeStyle = css('--mark'); t.lineWidth = 1.6 * ratio;
  for (const shift of [-size, 0, size]) {
    t.beginPath();
    t.moveTo(shift, rising ? size : 0); t.lineTo(shift + size, rising ? 0 : size);
    t.stroke();
  }
  const pattern = g.createPattern(tile, 'repeat');
  pattern.setTransform(new DOMMatrix().scale(1 / ratio));
  return pattern;
}
function drawGrid(g) {
  const { w, h, box, x, y } = frame, bottom = y.at(BASE);
  const values = byteTicks(Math.max(y.back(h - box.bottom), BASE), y.back(box.top));
  const step = values.length > 1 ? values[1] - values[0] : 0;
  const list = values.filter(v => Math.abs(y.at(v) - bottom) > 14).map(v => [v, bytes(v, step)]);
  if (BASE) list.push([BASE, bytes(BASE)]);
  if (Math.abs(y.at(0) - bottom) > 14 || !BASE) list.push([0, '0']);
  g.strokeStyle = css('--line'); g.fillStyle = css('--soft'); g.lineWidth = 1;
  g.textAlign = 'right';
  for (const [v, text] of list) {
    const at = y.at(v);
    if (at < box.top - 1 || at > h - box.bottom + 1) continue;
    g.beginPath(); g.moveTo(box.left, at); g.lineTo(w - box.right, at); g.stroke();
    g.fillText(text, box.left - 6, at + 4);
  }
  g.textAlign = 'center';
  for (const v of ticks(view.from, view.to, Math.max(2, w / 110))) {
    if (!Number.isInteger(v)) continue;
    const half = g.measureText(count(v)).width / 2;
    g.fillText(count(v), Math.min(x.at(v), w - half), h - box.bottom + 16);
  }
  g.fillText('op of the step', (box.left + w - box.right) / 2, h - 4);
  if (!BROKEN || bottom > h - box.bottom) return;
  // The break of the scale, on the axis.
  const at = y.at(BASE * 0.55), left = box.left;
  g.strokeStyle = css('--soft'); g.lineWidth = 1.5;
  for (const shift of [-3, 3]) {
    g.beginPath();
    g.moveTo(left - 7, at + shift + 3); g.lineTo(left - 1, at + shift - 3); g.stroke();
  }
}

function drawBands(g) {
  const { w, box, x, y } = frame;
  let from = 0;
  g.textAlign = 'left';
  for (const [name, size, hue] of BANDS) {
    if (size <= 0) continue;
    const top = y.at(from + size), height = y.at(from) - top;
    g.fillStyle = bandColour(hue);
    g.fillRect(box.left, top, w - box.left - box.right, height);
    from += size;
    if (height < 13) continue;
    g.fillStyle = css('--ink');
    g.fillText(name + ', ' + bytes(size), Math.max(box.left, x.at(0)) + 6, top + height / 2 + 4);
  }
}
function barBox(i) {
  const { x, y } = frame, birth = BARS.birth[i], bottom = BASE + BARS.offset[i];
  const left = x.at(birth), top = y.at(bottom + BARS.bytes[i]);
  return [left, top, Math.max(x.at(birth + BARS.life[i]) - left, 1),
    Math.max(y.at(bottom) - top, 1.2)];
}
function drawBars(g) {
  const { w, h, box } = frame, shown = PLAN.roles.map(() => []);
  const hatched = [PLAN.recomputed, PLAN.fetched].map(list => ({ marked: new Set(list), boxes: [] }));
  for (let i = 0; i < BARS.birth.length; ++i) {
    if (BARS.birth[i] >= view.to || BARS.birth[i] + BARS.life[i] <= view.from) continue;
    const place = barBox(i);
    if (place[1] > h - box.bottom || place[1] + place[3] < box.top) continue;
    shown[BARS.role[i]].push(place);
    for (const h of hatched) if (h.marked.has(i)) h.boxes.push(place);
  }
  const line = css('--panel');
  shown.forEach((places, role) => {
    g.fillStyle = roleColour(PLAN.roles[role]); g.strokeStyle = line; g.lineWidth = 0.7;
    for (const [left, top, width, height] of places) {
      g.fillRect(left, top, width, height);
      if (width > 3 && height > 3) g.strokeRect(left, top, width, height);
    }
  });
  hatched.forEach(({ boxes }, kind) => {
    g.fillStyle = stripes(g, kind === 0);
    for (const place of boxes) g.fillRect(...place);
  });
}
// Horizontal lines with their names. If two lie close together, one name stands below its line.
function drawLimit(g, v, colour, text, dashed, below) {
  const { w, h, box, y } = frame, at = y.at(v);
  if (at < box.top - 8 || at > h - box.bottom) return;
  g.strokeStyle = colour; g.lineWidth = dashed ? 1.5 : 2; g.setLineDash(dashed ? [5, 4] : []);
  g.beginPath(); g.moveTo(box.left, at); g.lineTo(w - box.right, at); g.stroke();
  g.setLineDash([]);
  const width = g.measureText(text).width + 8, top = below ? at + 3 : Math.max(at - 19, 0);
  const left = peakIsRight() ? box.left : w - box.right - width;
  g.fillStyle = css('--panel'); g.globalAlpha = 0.85;
  g.fillRect(left, top, width, 16);
  g.globalAlpha = 1; g.fillStyle = colour; g.textAlign = 'left';
  g.fillText(text, left + 4, top + 12);
}
// Texts are drawn on the side of the peak's mark where there is more room.
const peakIsRight = () => frame.x.at(PLAN.peakStep) > (frame.box.left + frame.w) / 2;
function drawLines(g) {
  const { box, x, y, h } = frame, live = PLAN.steps.live;
  g.lineWidth = 1.5; g.strokeStyle = css('--ink'); g.beginPath();
  const end = Math.min(live.length, Math.ceil(view.to));
  for (let i = Math.max(0, Math.floor(view.from)); i < end; ++i) {
    g.lineTo(x.at(i), y.at(BASE + live[i])); g.lineTo(x.at(i + 1), y.at(BASE + live[i]));
  }
  g.stroke();
  if (live.length) {
    const at = x.at(PLAN.peakStep + 0.5), top = box.top - 9;
    g.fillStyle = css('--ink'); g.beginPath();
    g.moveTo(at - 5, top); g.lineTo(at + 5, top); g.lineTo(at, top + 8); g.fill();
  }
  const near = budgetInside && Math.abs(y.at(PLAN.budget) - y.at(TOTAL)) < 20;
  drawLimit(g, TOTAL, css('--ink'),
    'planned peak' + (ASIDE ? ' and reserves ' : ' ') + bytes(TOTAL), true,
    near && PLAN.budget > TOTAL);
  if (!PLAN.budget) return;
  const budget = 'budget ' + bytes(PLAN.budget);
  if (budgetInside) {
    drawLimit(g, PLAN.budget, css('--limit'), budget, false, near && PLAN.budget <= TOTAL);
  } else {
    g.fillStyle = css('--limit'); g.textAlign = peakIsRight() ? 'left' : 'right';
    g.fillText(budget + ' \u2191', peakIsRight() ? box.left + 4 : frame.w - box.right - 4, box.top - 2);
  }
}
function drawTimeline() {
  if (!BARS.birth.length) return;
  const [g, w, h] = prepare(byId('timeline'), innerWidth < 500 ? 340 : 460);
  frame = measure(w, h);
  const { box } = frame;
  drawGrid(g);
  g.save();
  g.beginPath(); g.rect(box.left, 0, w - box.left - box.right, h - box.bottom); g.clip();
  drawBands(g);
  drawBars(g);
  drawLines(g);
  g.restore();
  prepare(byId('pointer'), h);
}
function timelineLegend() {
  const marks = [];
  if (PLAN.recomputed.length) marks.push(['recomputed', 'recomputed']);
  if (PLAN.fetched.length) marks.push(['fetched', 'read back from the swap file']);
  legend('roles', PLAN.roles.map(role => [roleColour(role), role])
    .concat(BANDS.filter(b => b[1] > 0).map(b => [bandColour(b[2]), b[0]]))
    .concat(marks, [['solid', 'in use'], ['dashed', 'planned peak']])
    .concat(PLAN.budget ? [['limit', 'budget']] : []));
}
)js";

}  // namespace thimble::io

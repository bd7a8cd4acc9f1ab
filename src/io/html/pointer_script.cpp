#include "io/html/assets.h"

namespace thimble::io {

// Pointing at the timeline and zooming into it.
const char* const kPointerScript = R"js(
// The buffer under the mouse, with a tolerance of a few pixels for thin ones. Searching 20,000
// buffers takes less than a millisecond, so there is no index by time.
function bufferAt(px, py) {
  const reach = 4, { x, y } = frame, op = x.back(px), slack = Math.abs(x.back(px + 2) - op);
  let best = -1, least = Infinity;
  for (let i = 0; i < BARS.birth.length; ++i) {
    const birth = BARS.birth[i];
    if (op < birth - slack || op > birth + BARS.life[i] + slack) continue;
    const bottom = y.at(BASE + BARS.offset[i]);
    const top = y.at(BASE + BARS.offset[i] + BARS.bytes[i]), thin = bottom - top < 2 * reach;
    if (py < top - (thin ? reach : 0) || py > bottom + (thin ? reach : 0)) continue;
    const beside = Math.max(birth - op, op - birth - BARS.life[i], 0) / slack;
    const far = Math.abs((top + bottom) / 2 - py) + 10 * beside - (thin ? 1e6 : 0);
    if (far < least) { least = far; best = i; }
  }
  return best;
}
// The name of a value without what the planner did: "x" of "x (recomputed)".
const VALUES = PLAN.names.map(name => name.replace(/ \([a-z ]+\)$/, ''));
function otherTimes(i) {
  const value = VALUES[BARS.name[i]], role = BARS.role[i], list = [];
  if (PLAN.roles[role] === 'workspace') return list;
  for (let j = 0; j < BARS.birth.length; ++j) {
    if (j !== i && BARS.role[j] === role && VALUES[BARS.name[j]] === value) list.push(j);
  }
  return list;
}
const opName = i => PLAN.ops[PLAN.steps.op[i]] +
  (PLAN.layers[PLAN.steps.layer[i]] ? ' of ' + PLAN.layers[PLAN.steps.layer[i]] : '');
function barText(i) {
  const birth = BARS.birth[i], last = birth + BARS.life[i] - 1;
  const made = PLAN.recomputed.includes(i) ? 'recomputed, '
    : PLAN.fetched.includes(i) ? 'read back from the swap file, ' : '';
  return PLAN.names[BARS.name[i]] + ' ' + PLAN.shapes[BARS.shape[i]] + '\n' +
    PLAN.roles[BARS.role[i]] + ', ' + made + bytes(BARS.bytes[i]) + ' (' + count(BARS.bytes[i]) +
    ' B)\nfrom op ' + birth + ', ' + opName(birth) + '\nto op ' + last + ', ' + opName(last) + '\n\n';
}
function bandText(v) {
  for (const [name, size] of BANDS) {
    if (v < size) return name + ', ' + bytes(size) + ', during the whole step\n\n';
    v -= size;
  }
  return '';
}
function point(event) {
  const { w, h, box, x, y } = frame, px = event.offsetX, py = event.offsetY;
  const op = Math.floor(x.back(px)), g = prepare(byId('pointer'), h)[0];
  if (px < box.left || px > w - box.right || op < 0 || op >= PLAN.steps.op.length) {
    return showTip(event, '');
  }
  const i = y.back(py) >= BASE ? bufferAt(px, py) : -1, v = y.back(py);
  g.beginPath(); g.rect(box.left, 0, w - box.left - box.right, h - box.bottom); g.clip();
  g.strokeStyle = css('--soft'); g.lineWidth = 1; g.beginPath();
  g.moveTo(px, box.top); g.lineTo(px, h - box.bottom); g.stroke();
  if (i >= 0) {
    g.strokeStyle = css('--ink'); g.lineWidth = 2;
    g.strokeRect(...barBox(i));
    g.setLineDash([3, 3]);
    for (const j of otherTimes(i)) g.strokeRect(...barBox(j));
  }
  showTip(event, (i >= 0 ? barText(i) : v >= 0 && v < BASE ? bandText(v) : '') + 'op ' + op + ': ' +
    opName(op) + '\n' + bytes(BASE + PLAN.steps.live[op]) + ' in use');
}
function show(next) {
  const all = WHOLE.to, span = Math.min(Math.max(next.to - next.from, 2), all);
  const from = Math.min(Math.max(next.from, 0), all - span);
  view = { from, to: from + span, low: Math.max(next.low ?? view.low, 0),
    high: Math.min(next.high ?? view.high, 1) };
  const zoomed = span < all || view.high - view.low < 1;
  byId('range').textContent = zoomed ? 'ops ' + count(Math.round(from)) + ' to ' +
    count(Math.round(from + span)) + ' of ' + count(all) : 'drag over a region to enlarge it';
  drawTimeline();
}
function zoom(factor, middle = (view.from + view.to) / 2) {
  show({ from: middle - (middle - view.from) * factor, to: middle + (view.to - middle) * factor });
}
const BUTTONS = [['+', 'enlarge', () => zoom(0.5)], ['\u2212', 'show more', () => zoom(2)],
  ['\u2190', 'earlier', () => move(-0.5)], ['\u2192', 'later', () => move(0.5)],
  ['peak', 'the peak', () => {
    const span = Math.min(WHOLE.to, Math.max(20, WHOLE.to / 20));
    show({ from: PLAN.peakStep - span / 2, to: PLAN.peakStep + span / 2, low: 0, high: 1 });
  }], ['whole', 'the whole step', () => show({ ...WHOLE })]];
function move(share) {
  const by = share * (view.to - view.from);
  show({ from: view.from + by, to: view.to + by });
}
function listen() {
  const canvas = byId('pointer');
  let start = null, dragged = null;
  canvas.onpointerdown = event => {
    start = event.button === 0 ? [event.offsetX, event.offsetY] : null;
    canvas.setPointerCapture(event.pointerId);
  };
  canvas.onpointermove = event => {
    dragged = start && Math.abs(event.offsetX - start[0]) > 6 ? [event.offsetX, event.offsetY] : null;
    if (!dragged) return point(event);
    showTip(event, '');
    const [x0, x1, y0, y1] = corners(start, dragged), g = prepare(canvas, frame.h)[0];
    g.fillStyle = css('--a'); g.globalAlpha = 0.2;
    g.fillRect(x0, y0, x1 - x0, y1 - y0);
  };
  canvas.onpointerup = () => {
    if (dragged) {
      const [x0, x1, y0, y1] = corners(start, dragged);
      show({ from: frame.x.back(x0), to: frame.x.back(x1), low: level(frame.y.back(y1)),
        high: level(frame.y.back(y0)) });
    }
    start = dragged = null;
  };
  canvas.onpointercancel = () => { start = dragged = null; };
  canvas.onpointerleave = event => { showTip(event, ''); prepare(canvas, frame.h); };
  canvas.ondblclick = () => show({ ...WHOLE });
  canvas.addEventListener('wheel', event => {
    if (!event.ctrlKey) return;  // the page scrolls
    event.preventDefault();
    zoom(event.deltaY < 0 ? 0.8 : 1.25, frame.x.back(event.offsetX));
  }, { passive: false });
  for (const [text, title, act] of BUTTONS) {
    const button = add(byId('zoom'), 'button', text);
    button.title = title; button.setAttribute('aria-label', title); button.onclick = act;
  }
  show(view);
}
// Left, right, top and bottom of the dragged area; a flat one means the whole height.
function corners(a, b) {
  const { w, h, box } = frame, inside = p => Math.min(Math.max(p, box.left), w - box.right);
  const flat = Math.abs(a[1] - b[1]) < 24;
  return [inside(Math.min(a[0], b[0])), inside(Math.max(a[0], b[0])),
    flat ? box.top : Math.max(Math.min(a[1], b[1]), box.top),
    flat ? h - box.bottom : Math.min(Math.max(a[1], b[1]), h - box.bottom)];
}
)js";

}  // namespace thimble::io

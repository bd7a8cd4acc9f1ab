#include "io/html/assets.h"

namespace thimble::io {

const char* const kReportScript = R"js(
'use strict';
const byId = id => document.getElementById(id);
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const tip = byId('tip');
function showTip(event, text) {
  tip.textContent = text;
  tip.style.display = text ? 'block' : 'none';
  const right = event.clientX > innerWidth / 2;
  tip.style.left = right ? '' : event.clientX + 14 + 'px';
  tip.style.right = right ? innerWidth - event.clientX + 14 + 'px' : '';
  tip.style.top = Math.min(event.clientY + 14, innerHeight - 90) + 'px';
}
function add(parent, tag, text, className) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (className) node.className = className;
  parent.appendChild(node);
  return node;
}
function bytes(n) {
  if (n >= 1048576) return +(n / 1048576).toFixed(2) + ' MiB';
  if (n >= 1024) return +(n / 1024).toFixed(1) + ' KiB';
  return n + ' B';
}
function short(x) {
  if (x === null || x === undefined) return 'not finite';
  const a = Math.abs(x);
  return a !== 0 && (a < 1e-3 || a >= 1e6) ? x.toExponential(2) : String(+x.toPrecision(5));
}
// As many decimals in every row: columns line up.
const loss = x => x === null ? 'not finite' : Math.abs(x) < 10 ? x.toFixed(4) : x.toFixed(2);
function legend(id, entries) {
  const box = byId(id);
  box.textContent = '';
  for (const [colour, text] of entries) {
    const item = add(box, 'span');
    add(item, 'i').style.background = colour;
    item.append(text);
  }
}
// A canvas in device pixels; returns its context in CSS pixels.
function prepare(canvas, height) {
  const ratio = devicePixelRatio || 1, width = canvas.clientWidth;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.height = height + 'px';
  const g = canvas.getContext('2d');
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  g.font = '12px system-ui, sans-serif';
  return [g, width, height];
}
function ticks(low, high, count) {
  const raw = (high - low) / count || 1, power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw);
  const list = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step) list.push(v);
  return list;
}
// Every few powers of two, about six of them.
function byteTicks(high) {
  const step = Math.pow(2, Math.ceil(Math.log2(Math.max(high, 8) / 7))), list = [];
  for (let v = 0; v <= high; v += step) list.push(v);
  return list;
}
function axes(g, w, h, box, x, y, yTicks, label, xText, yText) {
  g.strokeStyle = css('--line');
  g.fillStyle = css('--soft');
  g.textAlign = 'right';
  for (const v of yTicks) {
    g.beginPath(); g.moveTo(box.left, y.at(v)); g.lineTo(w - box.right, y.at(v)); g.stroke();
    g.fillText(yText(v), box.left - 6, y.at(v) + 4);
  }
  g.textAlign = 'center';
  for (const v of ticks(x.low, x.high, Math.max(2, w / 110))) {
    g.fillText(xText(v), x.at(v), h - box.bottom + 16);
  }
  g.fillText(label, (box.left + w - box.right) / 2, h - 4);
}
function scale(low, high, from, to) {
  const span = high - low || 1;
  return { low, high, at: v => from + (v - low) / span * (to - from),
           back: p => low + (p - from) / (to - from) * span };
}
// Running mean over about a hundredth of the run; no value before the first weighs in.
function smooth(values) {
  const keep = 1 - 1 / Math.max(1, Math.min(50, values.length / 100));
  let sum = 0, weight = 0;
  return values.map(v => {
    if (v !== null) { sum = keep * sum + v; weight = keep * weight + 1; }
    return weight ? sum / weight : null;
  });
}
function curve(canvasId, series, points, yText, clipped) {
  const canvas = byId(canvasId);
  const [g, w, h] = prepare(canvas, 260);
  const box = { left: 58, right: 12, top: 8, bottom: 40 }, inside = 6;
  const isNumber = v => v !== null, marks = points.map(p => p.y).filter(isNumber);
  const finite = series.flatMap(s => s.bounds ? s.values : []).filter(isNumber);
  const sorted = Float64Array.from(finite.length ? finite : marks).sort();
  if (!sorted.length) return;
  // Of many losses the few largest may leave the picture, so that the others can be told apart.
  const last = sorted.length - 1, low = Math.min(sorted[0], ...marks);
  const high = Math.max(sorted[clipped && last >= 200 ? Math.floor(0.995 * last) : last], ...marks);
  const pad = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
  const n = Math.max(series[0].values.length, 1);
  const first = DATA.first;
  const x = scale(first, first + n, box.left, w - box.right - inside);
  const y = scale(low - pad, high + pad, h - box.bottom, box.top);
  axes(g, w, h, box, x, y, ticks(y.low, y.high, 5), 'step', v => v >= 1e4 ? v / 1000 + 'k' : v, yText);
  g.save();
  g.beginPath(); g.rect(box.left, 0, w - box.left - box.right, h - box.bottom); g.clip();
  for (const s of series) {
    g.strokeStyle = s.colour; g.globalAlpha = s.alpha; g.lineWidth = s.width; g.beginPath();
    const stride = Math.max(1, Math.floor(n / 4000));
    let open = false;
    for (let i = 0; i < s.values.length; i += stride) {
      if (s.values[i] === null) { open = false; continue; }
      g[open ? 'lineTo' : 'moveTo'](x.at(first + i + 1), y.at(s.values[i]));
      open = true;
    }
    g.stroke();
  }
  g.globalAlpha = 1;
  for (const p of points) {
    if (p.y === null) continue;
    g.fillStyle = p.colour; g.beginPath(); g.arc(x.at(p.x), y.at(p.y), 3.5, 0, 7); g.fill();
  }
  g.restore();
  canvas.onmousemove = event => {
    const i = Math.round(x.back(event.offsetX)) - 1 - first;
    if (i < 0 || i >= n) return showTip(event, '');
    showTip(event, 'step ' + (first + i + 1) + '\n' +
      series.filter(s => s.name).map(s => s.name + ' ' + short(s.values[i])).join('\n'));
  };
  canvas.onmouseleave = event => showTip(event, '');
}
function drawCurves() {
  if (!DATA.loss.length) return;
  byId('curves').hidden = false;
  const a = css('--a'), b = css('--b'), c = css('--c');
  const points = DATA.epochs.map(e => ({ x: e.steps, y: e.test, colour: b }));
  legend('loss-legend', [[a, 'training loss, smoothed'], [b, 'test loss, per epoch']]);
  curve('loss', [{ values: DATA.loss, colour: a, alpha: 0.22, width: 1, name: 'loss', bounds: true },
    { values: smooth(DATA.loss), colour: a, alpha: 1, width: 2 }], points, short, true);
  legend('rate-legend', [[c, 'learning rate']]);
  curve('rate', [{ values: DATA.rate, colour: c, alpha: 1, width: 2, name: 'learning rate',
    bounds: true }], [], short, false);
}
const HUES = { activation: 215, gradient: 22, input: 150, label: 175, workspace: 285, scalar: 330,
  parameter: 48, state: 95 };
const roleColour = role => {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  return 'hsl(' + (HUES[role] ?? 0) + (dark ? ' 55% 56%)' : ' 62% 60%)');
};
let pointedAt = null;
// The buffer under the mouse; a thin one may be missed by a few pixels.
function bufferAt(plan, x, y, event) {
  const reach = 4, px = event.offsetX, py = event.offsetY;
  const near = plan.buffers.filter(b =>
    px >= x.at(b.birth) - 1 && px <= Math.max(x.at(b.death), x.at(b.birth) + 2) + 1 &&
    py >= y.at(b.offset + b.bytes) - reach && py <= y.at(b.offset) + reach);
  const thin = near.filter(b => y.at(b.offset) - y.at(b.offset + b.bytes) < 2 * reach);
  const inside = near.filter(b => py >= y.at(b.offset + b.bytes) && py <= y.at(b.offset));
  const middle = b => Math.abs((y.at(b.offset) + y.at(b.offset + b.bytes)) / 2 - py);
  return [...(thin.length ? thin : inside)].sort((a, b) => middle(a) - middle(b))[0] ?? null;
}
function drawTimeline() {
  const plan = DATA.plan;
  if (!plan.buffers.length) return;
  byId('memory').hidden = false;
  const canvas = byId('timeline');
  const [g, w, h] = prepare(canvas, 420);
  const box = { left: 76, right: 12, top: 10, bottom: 40 };
  const x = scale(0, plan.steps.length, box.left, w - box.right);
  const y = scale(0, plan.arena * 1.03, h - box.bottom, box.top);
  axes(g, w, h, box, x, y, byteTicks(y.high), 'op of the step', v => v, bytes);
  for (const b of plan.buffers) {
    const left = x.at(b.birth), top = y.at(b.offset + b.bytes);
    const width = Math.max(x.at(b.death) - left, 1), height = Math.max(y.at(b.offset) - top, 1.2);
    g.fillStyle = roleColour(b.role);
    g.fillRect(left, top, width, height);
    if (height > 3 && width > 3) {
      g.strokeStyle = css('--panel'); g.lineWidth = 0.7;
      g.strokeRect(left, top, width, height);
    }
    if (b === pointedAt) {
      g.strokeStyle = css('--ink'); g.lineWidth = 2;
      g.strokeRect(left, top, width, height);
    }
  }
  g.lineWidth = 1.5; g.strokeStyle = css('--ink'); g.beginPath();
  plan.steps.forEach((s, i) => {
    g[i ? 'lineTo' : 'moveTo'](x.at(i), y.at(s.live)); g.lineTo(x.at(i + 1), y.at(s.live)); });
  g.stroke();
  g.setLineDash([5, 4]); g.beginPath();
  g.moveTo(box.left, y.at(plan.arena)); g.lineTo(w - box.right, y.at(plan.arena)); g.stroke();
  g.setLineDash([]);
  legend('roles', [...new Set(plan.buffers.map(b => b.role))].map(r => [roleColour(r), r])
    .concat([[css('--ink'), 'bytes alive (solid), arena (dashed)']]));
  canvas.onmousemove = event => {
    const step = Math.floor(x.back(event.offsetX));
    const s = plan.steps[step];
    const b = s ? bufferAt(plan, x, y, event) : null;
    if (b !== pointedAt) { pointedAt = b; drawTimeline(); }
    if (!s) return showTip(event, '');
    showTip(event, (b ? b.name + ' ' + b.shape + '\n' + b.role + ', ' + b.bytes.toLocaleString('en') +
      ' B, ops ' + b.birth + ' to ' + (b.death - 1) + '\n' : '') +
      'op ' + step + ': ' + s.op + (s.layer ? ' of ' + s.layer : '') + ', ' + bytes(s.live) + ' alive');
  };
  canvas.onmouseleave = event => {
    showTip(event, '');
    pointedAt = null;
    drawTimeline();
  };
}
function table(id, head, rows) {
  const node = byId(id), top = add(node, 'tr');
  for (const [text, number] of head) add(top, 'th', text, number ? 'n' : '');
  for (const row of rows) {
    const line = add(node, 'tr');
    row.forEach((cell, i) => add(line, 'td', cell, head[i][1] ? 'n' : ''));
  }
}
function fill() {
  byId('title').textContent = document.title = DATA.title;
  byId('subtitle').textContent = 'A ' +
    (DATA.epochs.length ? 'training run' : 'memory plan') + ' by thimble.';
  for (const [name, value] of DATA.facts) {
    const fact = add(byId('facts'), 'div', undefined, 'fact');
    add(fact, 'b', name);
    fact.append(value);
  }
  if (DATA.epochs.length) {
    byId('epochs').hidden = false;
    table('epoch-table', [['epoch', 1], ['training loss', 1], ['test loss', 1],
      ['learning rate', 1], ['seconds', 1]], DATA.epochs.map(e => [e.epoch, loss(e.train),
      loss(e.test), e.rate.toExponential(2), e.seconds.toFixed(2)]));
  }
  const plan = DATA.plan;
  byId('memory-text').textContent = 'Planned peak ' + bytes(plan.peak) + ' for a batch of ' +
    plan.batch + ': parameters ' + bytes(plan.parameters) + ', optimizer state and statistics ' +
    bytes(plan.state) + ', constants ' + bytes(plan.constants) + ', arena ' + bytes(plan.arena) +
    '. Each bar is a buffer of the arena: from the op that first writes it to the one that last ' +
    'reads it, at its place in memory. Point at one to see its name.';
  byId('buffers-title').textContent = 'All ' + plan.buffers.length + ' buffers, largest first';
  table('buffers', [['buffer', 0], ['role', 0], ['shape', 0], ['bytes', 1], ['offset', 1], ['ops', 1]],
    [...plan.buffers].sort((a, b) => b.bytes - a.bytes).map(b => [b.name, b.role, b.shape,
      b.bytes.toLocaleString('en'), b.offset.toLocaleString('en'), b.birth + '–' + (b.death - 1)]));
  for (const image of DATA.images) {
    byId('pictures').hidden = false;
    const figure = add(byId('pictures'), 'figure');
    add(figure, 'h2', image.title);
    add(figure, 'img').src = 'data:image/png;base64,' + image.png;
    figure.lastChild.alt = image.title;
    add(figure, 'figcaption', image.caption);
  }
  for (const text of DATA.texts) {
    byId('pictures').hidden = false;
    const figure = add(byId('pictures'), 'figure');
    add(figure, 'h2', text.title);
    add(figure, 'pre', text.text);
    add(figure, 'figcaption', text.caption);
  }
}
function draw() { drawCurves(); drawTimeline(); }
fill();
draw();
addEventListener('resize', draw);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
)js";

}  // namespace thimble::io

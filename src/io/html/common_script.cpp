#include "io/html/assets.h"

namespace thimble::io {

const char* const kCommonScript = R"js(
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
const UNITS = [['GiB', 1073741824], ['MiB', 1048576], ['KiB', 1024]];
// Two decimals, or as many more as tell n from n + step.
function bytes(n, step) {
  const unit = UNITS.find(u => Math.abs(n) >= u[1]);
  if (!unit) return n + ' B';
  const decimals = step ? Math.ceil(-Math.log10(step / unit[1])) + 1 : 2;
  return +(n / unit[1]).toFixed(Math.min(Math.max(decimals, 2), 9)) + ' ' + unit[0];
}
const count = n => n.toLocaleString('en');
const plural = (n, what) => count(n) + ' ' + what + (n === 1 ? '' : 's');
function short(x) {
  if (x === null || x === undefined) return 'not finite';
  const a = Math.abs(x);
  return a !== 0 && (a < 1e-3 || a >= 1e6) ? x.toExponential(2) : String(+x.toPrecision(5));
}
// As many decimals in every row: columns line up.
const loss = x => x === null ? 'not finite' : Math.abs(x) < 10 ? x.toFixed(4) : x.toFixed(2);
// Entries: a background or the name of a class, and what it stands for.
function legend(id, entries) {
  const box = byId(id);
  box.textContent = '';
  for (const [mark, text] of entries) {
    const item = add(box, 'span'), swatch = add(item, 'i');
    if (/^[a-z-]+$/.test(mark)) swatch.className = mark; else swatch.style.background = mark;
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
// Multiples of a power of two, about six of them.
function byteTicks(low, high) {
  const step = Math.pow(2, Math.max(0, Math.ceil(Math.log2(Math.max(high - low, 1) / 7))));
  const list = [];
  for (let v = Math.ceil(low / step) * step; v <= high; v += step) list.push(v);
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
function table(id, head, rows) {
  const node = byId(id), top = add(node, 'tr');
  for (const [text, number] of head) add(top, 'th', text, number ? 'n' : '');
  for (const row of rows) {
    const line = add(node, 'tr');
    row.forEach((cell, i) => add(line, 'td', cell, head[i][1] ? 'n' : ''));
  }
}
)js";

}  // namespace thimble::io

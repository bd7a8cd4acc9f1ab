#include "io/html/assets.h"

namespace thimble::io {

const char* const kCurvesScript = R"js(
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
  // The few largest of many losses may lie outside the picture, so that the others are readable.
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
)js";

}  // namespace thimble::io

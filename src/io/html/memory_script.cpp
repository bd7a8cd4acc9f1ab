#include "io/html/assets.h"

namespace thimble::io {

// Numbers and tables around the picture of the plan.
const char* const kMemoryScript = R"js(
const MOST_ROWS = 200;  // rows of a table; more would make the page slow
const exact = n => bytes(n) + (n >= 1024 ? ' (' + count(n) + '\u00a0B)' : '');
const time = ms => !ms ? '\u2013' : ms > 0 && ms < 0.005 ? '< 0.01 ms' : +ms.toPrecision(3) + ' ms';
function work(flops) {
  const unit = [['T', 1e12], ['G', 1e9], ['M', 1e6], ['k', 1e3]].find(u => flops >= u[1]);
  return unit ? +(flops / unit[1]).toPrecision(3) + ' ' + unit[0] + 'flop' : flops + ' flop';
}
function verdict() {
  if (!PLAN.budget) return '';
  const budget = 'Budget ' + exact(PLAN.budget) + ': ';
  if (PLAN.fits) return budget + 'kept, ' + bytes(PLAN.budget - TOTAL) + ' to spare.';
  return budget + 'cannot be kept' + (PLAN.nearest
    ? '; the nearest that can is ' + exact(PLAN.nearest) + '.' : '.');
}
function planFacts() {
  const facts = [['planned peak of a step', exact(PLAN.peak)]];
  if (PLAN.budget) facts.push(['memory budget', (PLAN.fits ? 'kept: ' : 'not kept: ') + exact(PLAN.budget)]);
  facts.push(['batch', count(PLAN.batch) + (PLAN.micro > 1 ? ' in ' + PLAN.micro + ' micro-batches' : '')],
    ['parameters', exact(PLAN.parameters)], ['optimizer state, statistics', exact(PLAN.state)],
    ['arena', exact(PLAN.arena)],
    ['above the lower bound', (PLAN.bound ? 100 * PLAN.peak / PLAN.bound - 100 : 0).toFixed(2) + ' %']);
  if (PLAN.stepMs) facts.push(['predicted step', time(PLAN.stepMs)]);
  if (PLAN.swapWritten || PLAN.swapRead) {
    facts.push(['swap file, per step', bytes(PLAN.swapWritten) + ' written, ' + bytes(PLAN.swapRead) +
      ' read'], ['swap file busy, predicted', time(PLAN.swapBusy)],
      ['waiting for the swap file, predicted', time(PLAN.swapStall)]);
  }
  return facts;
}
function strategies() {
  if (!PLAN.strategies.length) return;
  byId('strategies').hidden = false;
  const rows = PLAN.strategies.map(s => [s.name + (s.lossless ? '' : ' (lossy)'),
    s.saved ? bytes(s.saved) : '\u2013', bytes(s.left), time(s.ms)]);
  table('strategy-table', [['strategy', 0], ['saved', 1], ['left', 1], ['time', 1]], rows);
  const most = Math.max(...PLAN.strategies.map(s => s.left), 1);
  PLAN.strategies.forEach((s, i) => {
    const row = byId('strategy-table').rows[i + 1], share = 100 * s.left / most;
    row.cells[2].style.background = 'linear-gradient(to left, var(--bar) ' + share +
      '%, transparent ' + share + '%)';
    const notes = [s.detail, s.flops ? work(s.flops) + ' more' : '',
      s.io ? bytes(s.io) + ' to and from the file' : ''].filter(n => n);
    if (notes.length) add(row.cells[0], 'small', notes.join('; '));
  });
}
function bufferTable(id, list) {
  table(id, [['buffer', 0], ['role', 0], ['shape', 0], ['bytes', 1], ['offset', 1], ['ops', 1]],
    list.slice(0, MOST_ROWS).map(i => [PLAN.names[BARS.name[i]], PLAN.roles[BARS.role[i]],
      PLAN.shapes[BARS.shape[i]], count(BARS.bytes[i]), count(BARS.offset[i]),
      BARS.birth[i] + '\u2013' + (BARS.birth[i] + BARS.life[i] - 1)]));
}
function fillMemory() {
  const n = BARS.birth.length;
  if (!n) return;
  byId('memory').hidden = false;
  const made = [[PLAN.recomputed, 'recomputed'], [PLAN.fetched, 'read back from the swap file']]
    .filter(m => m[0].length).map(m => count(m[0].length) + ' ' + m[1]).join(', ');
  const summary = 'Planned peak ' + bytes(PLAN.peak) + ' for a batch of ' + PLAN.batch +
    ': parameters ' + bytes(PLAN.parameters) + ', optimizer state and statistics ' +
    bytes(PLAN.state) + (PLAN.inFile ? ' (' + bytes(PLAN.inFile) + ' of both in the swap file)' : '') +
    ', constants ' + bytes(PLAN.constants) + ', arena ' + bytes(PLAN.arena) +
    ' with ' + plural(n, 'buffer') + (made ? ' (' + made + ')' : '') + '. ' +
    (PLAN.steps.op.length ? 'Peak at op ' + PLAN.peakStep + 
      ', ' + opName(PLAN.peakStep) + '. ' : '') + verdict();
  byId('memory-text').textContent = summary;
  byId('pointer').setAttribute('aria-label', summary);
  byId('reading').textContent = 'Each bar is a buffer: from the op that first writes it to the one ' +
    'that last reads it, at its offset in memory. Point at one to see its name.' +
    (BROKEN ? ' What is held during the whole step is drawn smaller, not to scale.' : '');
  strategies();
  const order = Array.from(BARS.bytes.keys()).sort((a, b) => BARS.bytes[b] - BARS.bytes[a]);
  const alive = order.filter(i => BARS.birth[i] <= PLAN.peakStep &&
    PLAN.peakStep < BARS.birth[i] + BARS.life[i]);
  byId('peak-title').textContent = 'The peak' +
    (PLAN.steps.op.length ? ': ' + opName(PLAN.peakStep) : '');
  bufferTable('peak-buffers', alive.slice(0, 8));
  byId('peak-more').textContent = alive.length > 8 ? 'and ' + plural(alive.length - 8, 'smaller one') : '';
  byId('buffers-title').textContent = n > MOST_ROWS
    ? 'The ' + MOST_ROWS + ' largest of ' + count(n) + ' buffers'
    : n === 1 ? 'The one buffer' : 'All ' + n + ' buffers, largest first';
  // Rows are built only when they are shown.
  byId('buffers-title').parentNode.addEventListener('toggle', () => bufferTable('buffers', order),
    { once: true });
  byId('buffers-more').textContent = n > MOST_ROWS ? 'and ' + plural(n - MOST_ROWS, 'smaller one') : '';
  listen();
}
)js";

}  // namespace thimble::io

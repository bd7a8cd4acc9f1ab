#include "io/html/assets.h"

namespace thimble::io {

const char* const kReportStyle = R"css(
:root { color-scheme: light dark; --ink: #1c2128; --soft: #667; --paper: #fff; --panel: #f5f6f8;
  --line: #d8dbe0; --a: #2463c9; --b: #d9622b; --c: #2b8a5a; --limit: #c3212f;
  --mark: #10182880; --bar: #2463c930; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --soft: #98a1ad; --paper: #14171b; --panel: #1d2127; --line: #333a43;
    --a: #6ea2ff; --b: #ff9a66; --c: #5fc794; --limit: #ff6b74; --mark: #0c0f14b0; --bar: #6ea2ff40; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1240px; padding: 28px 18px 60px; color: var(--ink);
  background: var(--paper); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 26px; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 36px 0 10px; }
h3 { font-size: 15px; margin: 22px 0 6px; }
.panel h3 { margin-top: 0; }
p { color: var(--soft); margin: 0 0 10px; }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 165px), 1fr)); gap: 8px;
  margin: 16px 0; }
.fact { background: var(--panel); border-radius: 8px; padding: 8px 12px; overflow-wrap: anywhere; }
.fact b { display: block; color: var(--soft); font-weight: 500; font-size: 12px; }
.panel { background: var(--panel); border-radius: 10px; padding: 12px; position: relative; }
.pair { display: grid; gap: 14px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); }
canvas { display: block; width: 100%; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; font-size: 13px; color: var(--soft);
  margin: 0 0 8px; }
.legend i { display: inline-block; width: 11px; height: 11px; border-radius: 3px;
  margin-right: 6px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; padding: 4px 12px 4px 0; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th { color: var(--soft); font-weight: 500; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
i.recomputed { background: repeating-linear-gradient(135deg, var(--soft) 0 2px, transparent 2px 4px); }
i.fetched { background: repeating-linear-gradient(45deg, var(--soft) 0 2px, transparent 2px 4px); }
i.solid, i.dashed, i.limit { width: 18px; height: 0; border-radius: 0; vertical-align: middle;
  border-top: 2px solid var(--ink); }
i.dashed { border-top-style: dashed; }
i.limit { border-top-color: var(--limit); }
.beside { display: flex; flex-wrap: wrap; gap: 14px; align-items: flex-start; }
.beside > :first-child { flex: 99 1 640px; min-width: 0; }
.beside > :nth-child(2) { flex: 1 1 430px; min-width: 0; }
.stack { position: relative; }
.stack canvas + canvas { position: absolute; inset: 0; cursor: crosshair; touch-action: pan-y; }
#zoom { display: flex; flex-wrap: wrap; gap: 4px; align-items: center; font-size: 13px;
  color: var(--soft); margin: 0 0 6px; }
#zoom button { font: inherit; color: var(--ink); background: var(--paper); padding: 1px 9px;
  border: 1px solid var(--line); border-radius: 6px; cursor: pointer; }
#range { order: 1; margin-left: 6px; }
td small { display: block; color: var(--soft); }
#strategy-table { font-size: 13px; }
#strategy-table td { vertical-align: top; }
#strategy-table td:first-child { white-space: normal; }
#strategy-table .n { padding: 4px 0 4px 10px; }
#epoch-table { max-width: 720px; }
details { margin-top: 12px; }
summary { cursor: pointer; color: var(--soft); }
[hidden] { display: none; }
figure { margin: 0; }
figure img { max-width: 100%; image-rendering: pixelated; border-radius: 8px; display: block; }
figure pre { background: var(--panel); border-radius: 8px; padding: 12px; margin: 0;
  white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.5 ui-monospace, monospace; }
figcaption { color: var(--soft); font-size: 13px; margin-top: 6px; }
#tip { position: fixed; pointer-events: none; display: none; z-index: 9; max-width: 340px;
  background: var(--ink); color: var(--paper); padding: 6px 10px; border-radius: 6px;
  font-size: 13px; white-space: pre-line; }
)css";

const char* const kReportBody = R"html(
<h1 id="title"></h1>
<p id="subtitle"></p>
<div class="facts" id="facts"></div>
<section id="curves" hidden>
  <h2>Training</h2>
  <div class="pair">
    <div class="panel"><div class="legend" id="loss-legend"></div><canvas id="loss"></canvas></div>
    <div class="panel"><div class="legend" id="rate-legend"></div><canvas id="rate"></canvas></div>
  </div>
</section>
<section class="pair" id="pictures" hidden></section>
<section id="epochs" hidden>
  <h2>Epochs</h2>
  <div class="scroll"><table id="epoch-table"></table></div>
</section>
<section id="memory" hidden>
  <h2>Memory of one training step</h2>
  <p id="memory-text"></p>
  <p id="reading"></p>
  <div class="beside">
    <div class="panel">
      <div class="legend" id="roles"></div>
      <div id="zoom"><span id="range"></span></div>
      <div class="stack"><canvas id="timeline"></canvas><canvas id="pointer" role="img"></canvas></div>
    </div>
    <div class="panel" id="strategies" hidden>
      <h3>What reduced the peak</h3>
      <div class="scroll"><table id="strategy-table"></table></div>
    </div>
  </div>
  <h3 id="peak-title"></h3>
  <div class="scroll"><table id="peak-buffers"></table></div>
  <p id="peak-more"></p>
  <details><summary id="buffers-title"></summary>
  <div class="scroll"><table id="buffers"></table></div>
  <p id="buffers-more"></p></details>
</section>
<div id="tip"></div>
)html";

}  // namespace thimble::io

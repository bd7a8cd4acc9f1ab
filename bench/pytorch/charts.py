"""The page of the report and its charts, as HTML and SVG that need nothing else."""
import html

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>thimble beside PyTorch</title>
<style>
:root { color-scheme: light dark; --paper: #fcfcfa; --ink: #22262a; --soft: #687078;
  --line: #dcdfe2; --a: #1f6fb2; --b: #c8591d; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16191c; --ink: #e4e7ea; --soft: #98a1a9; --line: #343a40; --a: #6cb4ee;
    --b: #f09a5e; } }
body { background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif;
  max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 .5rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .3rem; }
p { color: var(--soft); margin: .3rem 0 .8rem; max-width: 46rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .8rem .3rem 0; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th.word, td.word { text-align: left; }
th { color: var(--soft); font-weight: 500; }
.charts, .pair { display: flex; flex-wrap: wrap; gap: 1.5rem; }
figure { margin: .8rem 0; }
figcaption { color: var(--soft); font-size: .9rem; }
img { width: 100%; max-width: 25rem; image-rendering: pixelated; }
svg { width: 100%; max-width: 44rem; height: auto; display: block; }
svg text { fill: var(--soft); font: 12px system-ui, sans-serif; }
pre { font-size: .8rem; line-height: 1.35; }
</style></head><body>
<h1>thimble beside PyTorch</h1>
CONTENT
</body></html>
"""

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 700, 240, 58, 110, 14, 34


def losses(name, run):
    """Test loss after each epoch, of both sides, as a figure."""
    sides = [("thimble", "var(--a)", ""), ("torch", "var(--b)", "6 4")]
    curves = {side: [epoch["test"]["loss"] for epoch in run[side]["epochs"]] for side, _, _ in sides}
    values = [value for curve in curves.values() for value in curve]
    low, high = min(values), max(values)
    high = high if high > low else low + 1
    epochs = len(curves["thimble"])

    def x(i):
        return LEFT + (WIDTH - LEFT - RIGHT) * (i / max(epochs - 1, 1))

    def y(value):
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low)

    marks = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
             f'aria-label="test loss of {html.escape(name)} by epoch">']
    for i in range(4):
        value = low + (high - low) * i / 3
        marks.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value):.1f}" '
                     f'y2="{y(value):.1f}" stroke="var(--line)"/>'
                     f'<text x="{LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">'
                     f'{value:.4g}</text>')
    for i in sorted({0, (epochs - 1) // 2, epochs - 1}):
        marks.append(f'<text x="{x(i):.1f}" y="{HEIGHT - 14}" text-anchor="middle">{i + 1}</text>')
    for row, (side, colour, dashes) in enumerate(sides):
        points = " ".join(f"{x(i):.1f},{y(value):.1f}" for i, value in enumerate(curves[side]))
        key = TOP + 12 + 20 * row
        marks.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2" '
                     f'stroke-dasharray="{dashes}"/>'
                     f'<line x1="{WIDTH - RIGHT + 14}" x2="{WIDTH - RIGHT + 38}" y1="{key - 4}" '
                     f'y2="{key - 4}" stroke="{colour}" stroke-width="2" '
                     f'stroke-dasharray="{dashes}"/>'
                     f'<text x="{WIDTH - RIGHT + 44}" y="{key}">'
                     f'{"PyTorch" if side == "torch" else side}</text>')
    marks.append("</svg>")
    return (f"<figure>{''.join(marks)}<figcaption>{html.escape(name)}: test loss after each epoch"
            "</figcaption></figure>")

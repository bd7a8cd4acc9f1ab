"""The page of the report and its charts, as HTML and SVG that need nothing else."""
import html
import math

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


ALONE = """<style>svg { --paper: #fcfcfa; --ink: #22262a; --soft: #687078; --line: #dcdfe2;
--a: #1f6fb2; --b: #c8591d; --c: #2a8a5c; } @media (prefers-color-scheme: dark) { svg {
--paper: #16191c; --ink: #e4e7ea; --soft: #98a1a9; --line: #343a40; --a: #6cb4ee; --b: #f09a5e;
--c: #62c795; } } text { fill: var(--soft); font: 12px system-ui, sans-serif; }
.head { fill: var(--ink); font-size: 14px; }</style>"""
PANEL_WIDTH, PANEL_HEIGHT, KEY_HEIGHT = 430, 280, 40
SLOWEST = 8  # shares of time above stand at the upper edge, as numbers
# The lines of the chart of peaks, and their styles.
LINES = ["thimble, recomputation", "thimble, with a swap file", "PyTorch, checkpoints"]
LOOKS = [("var(--a)", "circle"), ("var(--c)", "square"), ("var(--b)", "triangle")]


def mark(shape, x, y, colour):
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"/>'
    if shape == "square":
        return (f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" fill="{colour}"/>')
    return (f'<path d="M{x - 5:.1f},{y + 4.5:.1f} h10 l-5,-9 z" fill="{colour}"/>')


def ticks(high, count):
    """Round numbers from 0 to at least high."""
    step = 10 ** math.floor(math.log10(high / count))
    step = next(step * factor for factor in (1, 2, 2.5, 5, 10) if step * factor * count >= high)
    return [step * i for i in range(math.ceil(high / step) + 1)]


def panel(name, lines, looks):
    """One recipe's peaks (MiB) against the time of a step."""
    points = [point for line in lines.values() for point in line]
    across = ticks(max(x for x, _ in points), 5)
    up = ticks(max(y for _, y in points if y <= SLOWEST), 4)
    left, right, top, bottom = 44, 16, 30, 44

    def x(value):
        return left + (PANEL_WIDTH - left - right) * value / across[-1]

    def y(value):
        return PANEL_HEIGHT - bottom - (PANEL_HEIGHT - top - bottom) * min(value / up[-1], 1)

    marks = [f'<text class="head" x="{left}" y="18">{html.escape(name)}</text>']
    for value in up:
        marks.append(f'<line x1="{left}" x2="{PANEL_WIDTH - right}" y1="{y(value):.1f}" '
                     f'y2="{y(value):.1f}" stroke="var(--line)"/><text x="{left - 8}" '
                     f'y="{y(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
    for value in across:
        marks.append(f'<text x="{x(value):.1f}" y="{PANEL_HEIGHT - bottom + 18}" '
                     f'text-anchor="middle">{value:g}</text>')
    marks.append(f'<text x="{PANEL_WIDTH - right}" y="{PANEL_HEIGHT - 8}" text-anchor="end">'
                 'peak, MiB</text>')
    for line, points in lines.items():
        colour, shape = looks[line]
        ordered = sorted(points)
        path = " ".join(f"{x(px):.1f},{y(py):.1f}" for px, py in ordered)
        marks.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5" '
                     'stroke-opacity="0.6"/>')
        marks += [mark(shape, x(px), y(py), colour) for px, py in ordered]
        slowest, at = max((py, px) for px, py in ordered)
        if slowest > up[-1]:
            marks.append(f'<text x="{x(at) + 8:.1f}" y="{y(slowest) + 4:.1f}">'
                         f'{slowest:.0f}</text>')
    return marks


def peaks(recipes):
    """A picture of its own, light or dark as the reader's: for each recipe the lines {name: [(MiB,
    share of time)]}."""
    order = [line for line in LINES if any(line in lines for lines in recipes.values())]
    looks = {line: LOOKS[LINES.index(line)] for line in order}
    rows = -(-len(recipes) // 2)
    width, height = 2 * PANEL_WIDTH, KEY_HEIGHT + rows * PANEL_HEIGHT
    marks = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
             'aria-label="peak memory against the time of a step">', ALONE,
             f'<rect width="{width}" height="{height}" fill="var(--paper)"/>']
    for i, line in enumerate(order):
        colour, shape = looks[line]
        marks.append(mark(shape, 50 + 180 * i, 20, colour))
        marks.append(f'<text x="{62 + 180 * i}" y="24">{html.escape(line)}</text>')
    marks.append(f'<text x="{width - 16}" y="24" text-anchor="end">up: time of a step, with an '
                 'ample budget 1</text>')
    for i, (name, lines) in enumerate(recipes.items()):
        marks.append(f'<g transform="translate({i % 2 * PANEL_WIDTH},'
                     f'{KEY_HEIGHT + i // 2 * PANEL_HEIGHT})">')
        marks += panel(name, lines, looks)
        marks.append("</g>")
    return "\n".join([*marks, "</svg>", ""])

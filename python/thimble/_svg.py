"""The memory of a training step over time, as an SVG picture."""

from __future__ import annotations

from html import escape

from . import _core

_COLOURS = {
    "activation": "#5b8fd9",
    "gradient": "#d98a5b",
    "input": "#5bbf8a",
    "label": "#5bbfb5",
    "workspace": "#a878cf",
    "scalar": "#cf78a8",
    "parameter": "#c9b04f",
    "state": "#86b85b",
}
_MADE = {"first": "", "recomputed": ", recomputed", "fetched": ", read back from the swap file"}
_WIDTH, _HEIGHT = 900, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 15, 40, 40


def timeline(plan: _core.MemoryPlan) -> str:
    """One rectangle a buffer: from the op that writes it first to the one that reads it last, at
    its place in the arena."""
    steps = max(len(plan.steps), 1)
    arena = max(plan.arena_bytes, 1)
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def x(step: float) -> float:
        return _LEFT + width * step / steps

    def y(address: float) -> float:
        return _TOP + height * (1 - address / arena)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="18">{escape(_core.format_bytes(plan.planned_peak_bytes))} '
        f"at the peak, batch {plan.batch}; shown: the arena, "
        f"{escape(_core.format_bytes(plan.arena_bytes))}</text>",
    ]
    for tick in range(5):
        address = plan.arena_bytes * tick / 4
        parts.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(address):.1f}" y2="{y(address):.1f}" '
            f'stroke="#ddd"/><text x="{_LEFT - 6}" y="{y(address) + 4:.1f}" text-anchor="end">'
            f"{address / 1024:.0f} KiB</text>"
        )
    for b in plan.buffers:
        label = (
            f"{b.name} {b.role} {b.dtype}{list(b.shape)}: {b.bytes} B, ops {b.birth} to {b.death - 1}"
            f"{_MADE[b.made]}"
        )
        parts.append(
            f'<rect x="{x(b.birth):.2f}" y="{y(b.offset + b.bytes):.2f}" '
            f'width="{max(x(b.death) - x(b.birth), 0.5):.2f}" '
            f'height="{max(y(b.offset) - y(b.offset + b.bytes), 0.5):.2f}" '
            f'fill="{_COLOURS.get(b.role, "#999")}" stroke="white" stroke-width="0.4">'
            f"<title>{escape(label)}</title></rect>"
        )
    line = " ".join(
        f"{x(i):.1f},{y(step.live_bytes):.1f} {x(i + 1):.1f},{y(step.live_bytes):.1f}"
        for i, step in enumerate(plan.steps)
    )
    parts.append(f'<polyline points="{line}" fill="none" stroke="black"/>')
    at = float(_LEFT)
    for role in dict.fromkeys(b.role for b in plan.buffers):
        parts.append(
            f'<rect x="{at}" y="{_HEIGHT - 16}" width="10" height="10" '
            f'fill="{_COLOURS.get(role, "#999")}"/>'
            f'<text x="{at + 14}" y="{_HEIGHT - 7}">{escape(role)}</text>'
        )
        at += 34 + 7 * len(role)
    parts.append(f'<text x="{at}" y="{_HEIGHT - 7}">line: bytes alive; across: ops of a step</text>')
    return "\n".join(parts) + "\n</svg>\n"

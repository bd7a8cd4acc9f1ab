import torch

MODES = {"nearest": "nearest", "nearest_exact": "nearest-exact", "bilinear": "bilinear", "bicubic": "bicubic"}


def case(name, x, mode, size=None, scale=None, align_corners=False):
    """x: [N, H, W, C]; scale: of height and width."""

    def run(x):
        corners = align_corners if mode in ("bilinear", "bicubic") else None
        y = torch.nn.functional.interpolate(x.movedim(-1, 1), size, scale, MODES[mode], corners)
        return y.movedim(1, -1)

    attrs = dict(mode=mode, align_corners=align_corners)
    if size:
        attrs["size"] = size
    if scale:
        attrs.update(scale=scale[0], scale_w=scale[1])
    return dict(name=name, attrs=attrs, inputs=[{"shape": x}], torch=run)


def sequence_case(name, x, size, mode, align_corners=False):
    """x: [N, L, C]."""

    def run(x):
        kind, corners = ("linear", align_corners) if mode == "bilinear" else (mode, None)
        y = torch.nn.functional.interpolate(x.movedim(-1, 1), size, None, kind, corners)
        return y.movedim(1, -1)

    return dict(name=name, op="upsample1d", inputs=[{"shape": x}], torch=run,
                attrs=dict(mode=mode, align_corners=align_corners, size=size))


CASES = [
    case("nearest_twice", [1, 2, 3, 2], "nearest", scale=[2.0, 2.0]),
    case("nearest_to_a_size", [1, 3, 4, 1], "nearest", size=[5, 2]),
    case("nearest_by_a_fraction", [1, 3, 5, 1], "nearest", scale=[1.5, 0.7]),
    case("nearest_exact", [1, 3, 4, 1], "nearest_exact", size=[5, 2]),
    case("bilinear_twice", [1, 2, 3, 2], "bilinear", scale=[2.0, 2.0]),
    case("bilinear_to_a_size", [1, 3, 4, 1], "bilinear", size=[5, 2]),
    case("bilinear_by_a_fraction", [1, 3, 5, 1], "bilinear", scale=[1.7, 0.6]),
    case("bilinear_with_corners", [1, 3, 4, 1], "bilinear", size=[5, 7], align_corners=True),
    case("bilinear_to_one_pixel", [1, 3, 4, 1], "bilinear", size=[1, 1], align_corners=True),
    case("bicubic_twice", [1, 2, 3, 2], "bicubic", scale=[2.0, 2.0]),
    case("bicubic_by_a_fraction", [1, 5, 4, 1], "bicubic", scale=[1.7, 0.6]),
    case("bicubic_with_corners", [1, 3, 4, 1], "bicubic", size=[5, 7], align_corners=True),
    sequence_case("sequence", [1, 4, 2], 6, "nearest"),
    sequence_case("linear_sequence", [1, 4, 2], 6, "bilinear"),
]

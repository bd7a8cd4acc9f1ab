import torch

MODES = ["bilinear", "nearest", "bicubic"]
PADDINGS = ["zeros", "border", "reflection"]


def case(mode, padding, align_corners):
    def run(x, grid):
        grid = grid.detach() if mode == "nearest" else grid  # its gradient is 0
        y = torch.nn.functional.grid_sample(x.movedim(-1, 1), grid, mode, padding, align_corners)
        return y.movedim(1, -1)

    name = f"{mode}_{padding}" + ("_aligned" if align_corners else "")
    return dict(name=name, attrs=dict(mode=mode, padding=padding, align_corners=align_corners),
                inputs=[{"shape": [1, 3, 4, 2]}, {"shape": [1, 2, 3, 2], "low": -1.5, "high": 1.5}],
                torch=run)


def volume_case(mode, padding, align_corners):
    made = case(mode, padding, align_corners)
    grid = {"shape": [1, 2, 2, 3, 3], "low": -1.5, "high": 1.5}
    return made | dict(name="volumes_" + made["name"], inputs=[{"shape": [1, 2, 3, 4, 2]}, grid])


CASES = [case(*rest) for mode in MODES for padding in PADDINGS
         for rest in [(mode, padding, False), (mode, padding, True)]]


def far_case(mode, padding):
    """Points far outside, up to where neighbouring pixels have one coordinate."""
    points = [[1e8, 0.0], [-1e8, 0.5], [1e9, -1e9], [0.25, 3e12], [-1e20, 1e20]]
    return case(mode, padding, False) | dict(
        name=f"far_{mode}_{padding}", inputs=[{"shape": [1, 3, 4, 2]}, {"values": [[points]]}])


CASES += [far_case(mode, padding) for mode in MODES for padding in ["zeros", "border"]]
CASES += [volume_case(mode, padding, align_corners) for mode in ["bilinear", "nearest"]
          for padding in PADDINGS for align_corners in [False, True]]

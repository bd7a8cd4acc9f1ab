import torch


def case(name, x, kernel, stride=0, padding=0, dilation=1, ceil_mode=False):
    """x: [N, H, W, C]; stride 0: that of the kernel. All values differ."""
    size = torch.Size(x).numel()
    order = torch.randperm(size, generator=torch.Generator().manual_seed(1))
    inputs = [{"values": (order.reshape(x) / size - 0.5).tolist()}]

    def run(x):
        step = torch.tensor(stride or kernel).expand(2)
        y, index = torch.nn.functional.max_pool2d(x.permute(0, 3, 1, 2), kernel, stride or None,
                                                  padding, dilation, ceil_mode, return_indices=True)
        # PyTorch counts cells in the image, we in the window.
        width = torch.tensor(kernel).expand(2)[1]
        pad = torch.tensor(padding).expand(2)
        rows = torch.arange(y.shape[2])[:, None] * step[0] - pad[0]
        columns = torch.arange(y.shape[3])[None, :] * step[1] - pad[1]
        down, right = torch.tensor(dilation).expand(2)
        place = (index // x.shape[2] - rows) // down * width + (index % x.shape[2] - columns) // right
        return y.permute(0, 2, 3, 1), place.permute(0, 2, 3, 1).to(torch.uint8)

    sides = torch.tensor(padding).expand(2).tolist()
    attrs = dict(kernel=kernel, stride=stride, padding=[sides[0]] * 2 + [sides[1]] * 2, dilation=dilation,
                 ceil_mode=ceil_mode)
    return dict(name=name, attrs=attrs, inputs=inputs, torch=run)


CASES = [
    case("halves", [2, 4, 5, 2], 2),
    case("overlapping_padded", [1, 5, 4, 2], 3, stride=2, padding=1),
    case("each_axis", [1, 5, 6, 2], [2, 3], stride=[1, 2], padding=[0, 1]),
    case("stride_larger_than_kernel", [1, 5, 5, 2], 2, stride=3),
    case("dilated", [1, 6, 7, 2], 2, stride=1, padding=1, dilation=[2, 3]),
    case("ceil_mode", [1, 6, 5, 2], 3, stride=2, padding=1, ceil_mode=True),
]


def with_indices(name, x, kernel, stride=0, padding=0, dilation=1):
    def run(x):
        y, index = torch.nn.functional.max_pool2d(x.permute(0, 3, 1, 2), kernel, stride or None, padding,
                                                  dilation, return_indices=True)
        return y.permute(0, 2, 3, 1), index.permute(0, 2, 3, 1).to(torch.int32)

    made = case(name, x, kernel, stride, padding, dilation)
    for side in ("kernel", "stride", "dilation"):
        made["attrs"][side] = torch.tensor(made["attrs"][side]).expand(2).tolist()
    return dict(made, op="max_pool2d_with_indices", torch=run)


CASES += [
    with_indices("cells", [2, 4, 5, 2], 2),
    with_indices("cells_dilated", [1, 6, 7, 2], 2, stride=1, padding=1, dilation=2),
]

"""Against PyTorch's own fake quantization in f32. One scale for all is a power of two, so that it is exact;
others keep away from halves, because PyTorch multiplies with 1 / scale."""
import torch


def numbers(*shape):
    """Multiples of 1/64 from -9 to 9, none near half a step of the scales below."""
    count = torch.Size(shape).numel()
    at = torch.arange(count, dtype=torch.float64) * 37 % 1151 - 575
    return {"shape": list(shape), "values": (at / 64).tolist()}


SCALE = 0.0625


def beside_bounds(numbers, zero_point, low, high):
    """PyTorch's learnable form counts up to one step beyond a bound as inside for its gradients, its plain form
    half a step as here. Numbers there become 0."""

    def fits(x):
        at = zero_point + x / SCALE
        return (low <= round(at) <= high) == (low - 1 < at < high + 1)

    return {**numbers, "values": [x if fits(x) else 0.0 for x in numbers["values"]]}


def plain(name, zero_point, low, high):
    """The gradient of x alone."""
    return dict(name=name, attrs=dict(zero_point=zero_point, low=low, high=high),
                inputs=[numbers(6, 31), {"values": [SCALE]}],
                torch=lambda x, scale: torch.fake_quantize_per_tensor_affine(
                    x.float(), scale.item(), zero_point, low, high).double())


def per_tensor(name, zero_point, low, high):
    def run(x, scale):
        # The learnable form has the gradient of the scale; the plain one proves its numbers.
        y = torch._fake_quantize_learnable_per_tensor_affine(
            x.float(), scale.float(), torch.tensor([zero_point], dtype=torch.float32), low, high, 1.0).double()
        plain = torch.fake_quantize_per_tensor_affine(x.detach(), scale.item(), zero_point, low, high)
        assert (y - plain).abs().max() < 1e-6
        return y

    return dict(name=name, attrs=dict(zero_point=zero_point, low=low, high=high),
                inputs=[beside_bounds(numbers(6, 31), zero_point, low, high), {"values": [SCALE]}], torch=run)


def per_channel(name, axis, low, high, shape):
    scales = [0.0390625 + 0.01171875 * i for i in range(shape[axis])]

    def run(x, scale):
        return torch._fake_quantize_learnable_per_channel_affine(
            x.float(), scale.float(), torch.zeros(shape[axis], dtype=torch.float32), axis, low, high, 1.0).double()

    return dict(name=name, attrs=dict(low=low, high=high, axis=axis),
                inputs=[numbers(*shape), {"values": scales}], torch=run)


CASES = [
    per_tensor("symmetric", 0, -127, 127),
    plain("zero_point", -128, -128, 127),
    per_tensor("four_bits", 3, -8, 7),
    per_channel("output_channels", 0, -127, 127, [4, 3, 3, 5]),
    per_channel("last_axis", 1, -7, 7, [9, 6]),
]

EXAMPLES = {"fake_quantize": {"scale": {"shape": (1,), "batch": False}}}

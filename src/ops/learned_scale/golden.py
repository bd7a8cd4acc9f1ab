def learned(ratio, unit, gradient_scale):
    """The gradient of the value is replaced by that of ratio / unit * gradient_scale."""
    value = unit.detach() * ratio.clamp(min=2**-10)
    pass_on = ratio * gradient_scale / unit.detach()
    return pass_on + (value - pass_on).detach()


def case(name, gradient_scale, ratio):
    unit = [0.25 * (i + 1) for i in range(len(ratio))]
    return dict(name=name, attrs={"gradient_scale": gradient_scale},
                inputs=[{"values": ratio}, {"values": unit}],
                torch=lambda r, u: learned(r, u, gradient_scale))


CASES = [case("one", 1.0, [1.0]), case("channels", 0.125, [1.0, 0.5, 1.75, -1.0, 0.0])]

EXAMPLES = {
    "learned_scale": {"ratio": {"shape": (4,), "batch": False}, "unit": {"shape": (4,), "batch": False}},
}

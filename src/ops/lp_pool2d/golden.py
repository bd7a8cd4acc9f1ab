import torch


def case(name, x, p, kernel, stride=0, ceil_mode=False):
    def run(x):
        y = torch.nn.functional.lp_pool2d(x.permute(0, 3, 1, 2), p, kernel, stride or None, ceil_mode)
        return y.permute(0, 2, 3, 1)

    return dict(name=name, attrs=dict(p=p, kernel=[kernel] * 2, stride=[stride] * 2, ceil_mode=ceil_mode),
                inputs=[{"shape": x, "low": 0.25, "high": 2}], torch=run)


CASES = [case("squares", [2, 4, 4, 2], 2.0, 2), case("cubes", [1, 5, 5, 2], 3.0, 3, 2),
         case("ceil_mode", [1, 6, 5, 2], 2.0, 2, 2, True)]

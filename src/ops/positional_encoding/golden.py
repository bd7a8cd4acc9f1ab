import torch


def case(name, shape, base=1e4, offset=0):
    def run(x):
        steps, width = x.shape[1:]
        at = torch.arange(offset, offset + steps).double()[:, None]
        rates = torch.exp(torch.arange(0, width, 2).double() * (-torch.log(torch.tensor(base).double())
                                                               / width))
        table = torch.zeros(steps, width).double()
        table[:, 0::2] = torch.sin(at * rates)
        table[:, 1::2] = torch.cos(at * rates)[:, :width // 2]
        return x + table.float().double()

    return dict(name=name, attrs=dict(base=base, offset=offset), inputs=[{"shape": shape}],
                torch=run)


CASES = [case("plain", [2, 3, 4]), case("odd_width", [1, 4, 3]),
         case("offset", [1, 2, 6], base=100.0, offset=5)]

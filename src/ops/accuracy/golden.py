import torch


def case(name, k, labels):
    def run(x, t):
        index = t if t.dtype == torch.int32 else t.argmax(-1)
        right = (x.topk(k).indices == index[..., None]).any(-1)
        return right.to(torch.float64).mean()

    return dict(name=name, attrs=dict(k=k), inputs=[{"shape": [8, 4]}, labels], torch=run)


INDICES = {"values": [0, 1, 2, 3, 0, 1, 2, 3], "dtype": "i32"}
CASES = [case("one", 1, INDICES), case("two", 2, INDICES), case("one_hot", 2, {"shape": [8, 4]})]

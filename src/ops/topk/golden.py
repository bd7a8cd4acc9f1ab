import torch


def case(name, x, k, axis=-1, largest=True):
    def run(x):
        values, indices = torch.topk(x, k, axis, largest)
        return values, indices.int()

    return dict(name=name, attrs=dict(k=k, axis=axis, largest=largest), inputs=[x], torch=run)


CASES = [
    case("two_of_five", {"shape": [3, 5]}, 2),
    case("smallest", {"shape": [3, 5]}, 3, largest=False),
    case("first_axis", {"shape": [4, 3]}, 2, axis=0),
    case("all", {"shape": [2, 4]}, 4),
]

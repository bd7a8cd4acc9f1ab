import torch


def case(name, x, groups):
    def run(x):
        return torch.nn.functional.channel_shuffle(x.movedim(-1, 1), groups).movedim(1, -1)

    return dict(name=name, attrs=dict(groups=groups), inputs=[{"shape": x}], torch=run)


CASES = [case("two_groups", [1, 2, 2, 6], 2), case("three_groups", [2, 3, 6], 3)]

EXAMPLES = {"channel_shuffle": {"x": (8, 8, 12)}}

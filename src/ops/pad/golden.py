import torch

CASES = [
    dict(name="images", attrs=dict(before=[0, 1, 0, 0], after=[0, 0, 2, 0], value=0.5),
         inputs=[{"shape": [2, 2, 2, 2]}],
         torch=lambda x: torch.nn.functional.pad(x, (0, 0, 0, 2, 1, 0), value=0.5)),
    dict(name="cut", attrs=dict(before=[0, -1], after=[1, -2], value=2.0), inputs=[{"shape": [2, 5]}],
         torch=lambda x: torch.nn.functional.pad(x, (-1, -2, 0, 1), value=2.0)),
]


def around(mode, before, after, shape=(2, 4, 3, 1)):
    """Of height and width; PyTorch wants channels second."""

    def run(x):
        y = torch.nn.functional.pad(x.permute(0, 3, 1, 2), (before[1], after[1], before[0], after[0]), mode)
        return y.permute(0, 2, 3, 1)

    return dict(name=mode, attrs=dict(before=[0, *before, 0], after=[0, *after, 0], mode=mode),
                inputs=[{"shape": list(shape)}], torch=run)


CASES += [around("reflect", [3, 1], [0, 2]), around("replicate", [2, 1], [0, 3]),
          around("circular", [3, 1], [0, 2]),
          dict(around("circular", [-1, 1], [1, -2]), name="cut_and_circular"),
          dict(around("replicate", [2, -1], [-3, 1]), name="replicated_and_cut"),
          dict(around("reflect", [1, 1], [0, 2], (0, 4, 3, 1)), name="reflected_batch_of_0")]

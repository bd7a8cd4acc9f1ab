import torch


def scores(x, sums, counts):
    distances = -torch.cdist(x, sums / counts[:, None]).square()
    return torch.where(counts > 0, distances, -torch.inf).detach()


def updated(sums, counts, x, labels):
    hot = torch.nn.functional.one_hot(labels.long(), len(counts)).to(x.dtype)
    return (sums + hot.T @ x).detach(), (counts + hot.sum(0)).detach()


CASES = [
    dict(name="scores", attrs={}, torch=scores,
         inputs=[{"shape": [3, 4]}, {"shape": [3, 4], "low": -4, "high": 4},
                 {"values": [2.0, 1.0, 0.0]}]),
    dict(name="samples", op="nearest_centroid_update", attrs={}, torch=updated,
         inputs=[{"shape": [3, 2]}, {"values": [2.0, 1.0, 0.0]}, {"shape": [4, 2]},
                 {"values": [2, 0, 2, 1], "dtype": "i32"}]),
]

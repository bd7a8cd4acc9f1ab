import torch


def case(name, n, queries, keys, mask=None):
    def run(q, k, v, hide, wq, wk, b, score):
        hidden = torch.tanh((q @ wq.T)[:, :, None] + (k @ wk.T)[:, None] + b)
        scores = (hidden @ score.T)[..., 0]
        if hide is not None:
            scores = scores.masked_fill(hide == 0, -torch.inf)
        return scores.softmax(-1) @ v

    inputs = [{"shape": shape} for shape in ([n, queries, 3], [n, keys, 2], [n, keys, 2])]
    inputs.append({"values": mask, "dtype": "u8"} if mask else None)
    inputs += [{"shape": shape} for shape in ([4, 3], [4, 2], [4], [1, 4])]
    return dict(name=name, op="additive_attention", attrs={}, inputs=inputs, torch=run)


CASES = [case("plain", 2, 3, 2), case("mask", 1, 2, 3, mask=[[[1, 0, 1], [0, 1, 1]]])]

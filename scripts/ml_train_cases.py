"""How PyTorch trains the small networks of goldens_ml_train.py: numbers to begin with, five updates, what is kept."""
import math

import torch
import torch.nn.functional as F

STEPS = 5
BATCH = 3
CASES = []


def numbers(dims, seed, scale=0.5, shift=0.0):
    count = math.prod(dims)
    values = [shift + scale * math.sin(0.9 * i + 0.37 * (i % 7) + seed) for i in range(count)]
    return torch.tensor(values, dtype=torch.float32).reshape(dims)


def initial(name, dims, seed):
    """A variance is above 0; other weights are around it."""
    return numbers(dims, seed, 0.3, 1.0 if name.endswith("moving_variance") else 0.0)


def rounded(tensor):
    return [float(f"{v:.7g}") for v in tensor.detach().flatten().tolist()]


def update_sgd(settings, state, p, g, step):
    p -= settings["lr"] * g


def update_adam(s, state, p, g, step):
    m, v = state.setdefault("m", torch.zeros_like(p)), state.setdefault("v", torch.zeros_like(p))
    p *= 1 - s["lr"] * s.get("decay", 0.0)
    m += (1 - 0.9) * (g - m)
    v += (1 - 0.999) * (g * g - v)
    c1, c2 = 1 - 0.9 ** step, 1 - 0.999 ** step
    if s["torch_ref"]:
        p -= s["lr"] / c1 * m / ((v / c2).sqrt() + s["eps"])
    else:
        p -= s["lr"] * math.sqrt(c2) / c1 * m / (v.sqrt() + s["eps"])


def update_rmsprop(s, state, p, g, step):
    v = state.setdefault("v", torch.zeros_like(p))
    v += (1 - s["rho"]) * (g * g - v)
    p -= s["lr"] * g / ((v + s["eps"]).sqrt() if not s["torch_ref"] else v.sqrt() + s["eps"])


def case(name, layers, weights, function, inputs=((1, 1, 4),), loss="mse", optimizer="sgd|learning_rate=0.1",
         update=update_sgd, settings=None, rates=None, frozen=(), penalty=None, gradient_decay=None,
         clip=None, clips=None, statistics=None, label=None, scale=0.5, shift=0.0, indexes=None, model=()):
    settings = settings or {"lr": 0.1}
    params = {n: initial(n, dims, k).requires_grad_(n not in frozen)
              for k, (n, dims) in enumerate(weights)}
    x = [numbers((BATCH, *dims), 10.0 + i, scale, shift) for i, dims in enumerate(inputs)]
    if indexes:
        x = [(torch.arange(BATCH * math.prod(inputs[0])) * 3 % indexes).float().reshape(BATCH, *inputs[0])]
    y = function(params, x, True)
    target = label or list(y.shape[1:])
    t = numbers((BATCH, *target), 20.0)
    if loss == "cross":
        t = F.one_hot(torch.arange(BATCH * math.prod(target[:-1])) % target[-1], target[-1])
        t = t.float().reshape(BATCH, *target)
    if loss == "kld":  # half for the last, the rest for all others
        t = torch.full((BATCH, *target), 0.5 / (target[-1] - 1))
        t[..., -1] = 0.5
    states = [{} for _ in params]
    losses = []
    for step in range(1, STEPS + 1):
        moving = {}
        y = function(params, x, True, moving)
        value = criterion(loss, y, t)
        if penalty:
            value = value + penalty(params)
        losses.append(value.item())
        trained = {n: p for n, p in params.items() if p.requires_grad}
        grads = torch.autograd.grad(value, trained.values(), allow_unused=True)
        grads = [torch.zeros_like(p) if g is None else g for g, p in zip(grads, trained.values())]
        limits = [clips.get(n) if clips else clip for n in trained]
        norm = math.sqrt(sum((g * g).sum().item() for g, limit in zip(grads, limits) if limit))
        grads = [g * min(1.0, limit / (norm + 1e-6)) if limit else g for g, limit in zip(grads, limits)]
        with torch.no_grad():
            at = dict(settings)
            if rates:
                at["lr"] = rates[step - 1]
            for (n, p), g, s in zip(trained.items(), grads, states):
                if gradient_decay and n in gradient_decay:
                    g = g + gradient_decay[n] * p
                update(at, s, p, g, step)
            for n, v in moving.items():
                params[n].copy_(v)
    output = function(params, x, False)
    if loss in ("cross", "kld"):
        output = output.softmax(-1) if output.shape[-1] > 1 else output.sigmoid()
    CASES.append({
        "name": name, "layers": layers, "inputs": [list(d) for d in inputs], "label": target,
        "loss": loss, "optimizer": optimizer, "scale": scale, "shift": shift, "indexes": indexes or 0,
        "model": list(model),
        "weights": [{"name": n, "dims": list(dims), "values": rounded(params[n])} for n, dims in weights],
        "losses": [float(f"{v:.7g}") for v in losses], "output": rounded(output)})


def criterion(loss, y, t):
    if loss == "mse":
        return ((y - t) ** 2).mean()
    if loss == "kld":
        return F.kl_div(y.log_softmax(-1), t, reduction="sum") / BATCH
    if y.shape[-1] > 1:
        return -(t * y.log_softmax(-1)).sum() / BATCH
    return F.binary_cross_entropy_with_logits(y, t)


# y = x W + b on the width: the layer before the one in question, whose gradient goes through it.
PRE = [("pre:weight", (1, 1, 4, 4)), ("pre:bias", (1, 1, 1, 4))]
PRE_LAYER = "fully_connected|name=pre|unit=4"


def pre(p, x):
    return x @ p["pre:weight"][0, 0] + p["pre:bias"]


def after_pre(name, layer, function, weights=(), inputs=((1, 1, 4),), **more):
    """The network input, pre, layer."""
    layers = [PRE_LAYER] + (layer if isinstance(layer, list) else [layer])
    case(name, layers, PRE + list(weights),
         lambda p, x, training, moving=None: function(p, pre(p, x[0])), inputs, **more)


def dense(p, x, name="l"):
    return x @ p[f"{name}:weight"][0, 0] + p[f"{name}:bias"]

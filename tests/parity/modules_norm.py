"""Normalisations with weights and running statistics of their own."""
import ops_norm  # noqa: F401  the functions' adapters
import thimble as tb
from layouts import channels_first, channels_last
from registry import OPS, module


@module("nn.LayerNorm", "layer_norm", times=4)
def layer_norm(m, w, x):
    return OPS["nn.functional.layer_norm"].call(x, m.normalized_shape, w.get("weight"), w.get("bias"),
                                                m.eps)


@module("nn.RMSNorm", "rms_norm", times=4)
def rms_norm(m, w, x):
    return OPS["nn.functional.rms_norm"].call(x, m.normalized_shape, w.get("weight"), m.eps)


@module("nn.GroupNorm", "group_norm", times=4)
def group_norm(m, w, x):
    return OPS["nn.functional.group_norm"].call(x, m.num_groups, w.get("weight"), w.get("bias"), m.eps)


@module(["nn.BatchNorm1d", "nn.BatchNorm2d", "nn.BatchNorm3d"], "batch_norm batch_norm_inference",
        times=4)
def batch_norm(m, w, x):
    if "running_mean" not in w:  # then the batch's statistics serve in evaluation, too
        weights = [w["weight"], w["bias"]] if m.affine else []
        options = {} if m.affine else {"affine": False, "track_running_stats": False}
        return channels_first(tb.batch_norm(channels_last(x), *weights, epsilon=m.eps, **options))
    return OPS["nn.functional.batch_norm"].call(
        x, w.get("running_mean"), w.get("running_var"), w.get("weight"), w.get("bias"), m.training,
        m.momentum, m.eps)


def _instance_norm(name, dims):
    @module(name, "instance_norm batch_norm_inference", times=4)
    def call(m, w, x):
        batch = x if x.ndim == dims + 2 else tb.reshape(x, (1, *x.shape))
        y = OPS["nn.functional.instance_norm"].call(
            batch, w.get("running_mean"), w.get("running_var"), w.get("weight"), w.get("bias"),
            m.training or "running_mean" not in w, m.momentum, m.eps)
        return tb.reshape(y, x.shape)


for _dims in (1, 2, 3):
    _instance_norm(f"nn.InstanceNorm{_dims}d", _dims)

"""What a training of PyTorch holds in memory, for train.py; twin_memory.cpp does the same for thimble.
Counts with count_malloc.so, which must stand in LD_PRELOAD."""
import ctypes
import gc

import torch

STEPS = 4  # the optimizer's state exists from the first on, gradients that are kept from the second


def count_malloc(what):
    function = getattr(ctypes.CDLL(None), f"count_malloc_{what}")
    function.restype = ctypes.c_long
    return function()


def bytes_of(tensors):
    """Each storage once, because gpt's first and last layer share their weights."""
    return sum({tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes()
                for tensor in tensors}.values())


def saved_bytes(training):
    """Bytes that autograd keeps of a step for its backward part, without parameters."""
    kept = {}
    own = {parameter.data_ptr() for parameter in training.model.parameters()}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        training.steps(1)
    return sum(kept.values())


def memory(training, before, seconds):
    """Two numbers of bytes: all that was allocated since `before` (the bytes that malloc had handed out
    after the samples were read), and the part that a step needs: the tensors kept between steps and
    what is added during one. Caches of libraries are in the first number alone."""
    training.steps(STEPS, seconds)
    parameters = list(training.model.parameters())
    gradients = [p.grad for p in training.model.parameters() if p.grad is not None]
    state = list(training.model.buffers())
    state += [value for values in training.optimizer.state.values() for value in values.values()
              if torch.is_tensor(value)]
    answer = {"parameter_bytes": bytes_of(parameters), "state_bytes": bytes_of(state),
              "gradient_bytes": bytes_of(gradients)}
    standing = bytes_of(parameters + gradients + state)
    del parameters, gradients, state
    gc.collect()
    answer["allocated_peak_bytes"] = count_malloc("peak") - before
    count_malloc("reset_peak")
    live = count_malloc("live")
    training.steps(STEPS, seconds)
    peak = count_malloc("peak")
    answer["allocated_peak_bytes"] = max(answer["allocated_peak_bytes"], peak - before)
    return {**answer, "peak_bytes": standing + peak - live, "saved_bytes": saved_bytes(training)}

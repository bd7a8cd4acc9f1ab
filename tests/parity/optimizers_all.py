"""Optimizers: their settings have PyTorch's names."""
import thimble as tb
from registry import optimizer

_OURS = {name: name for name in ("Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "ASGD",
                                 "NAdam", "RAdam", "Rprop", "SGD", "SparseAdam")}
_OURS["RMSprop"] = "RMSProp"


def _same(name, ours):
    @optimizer(name, ours)
    def call(**settings):
        return getattr(tb, ours)(**settings)


for _name, _ours in _OURS.items():
    _same(_name, _ours)

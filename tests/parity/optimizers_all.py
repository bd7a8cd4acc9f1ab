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


# The iteration triples what rounding makes of small singular values.
@optimizer("Muon", "Muon", times=100)
def muon(lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True,
         ns_coefficients=(3.4445, -4.7750, 2.0315), eps=1e-7, ns_steps=5, adjust_lr_fn=None):
    a, b, c = ns_coefficients
    return tb.Muon(lr=lr, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov, ns_a=a,
                   ns_b=b, ns_c=c, eps=eps, ns_steps=ns_steps,
                   match_rms_adamw=adjust_lr_fn == "match_rms_adamw")

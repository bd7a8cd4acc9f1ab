"""Elementwise functions of one tensor."""
import thimble as tb
from registry import op


@op("exp", ours="exp")
def exp(x):
    return tb.exp(x)

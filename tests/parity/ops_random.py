"""Dropout: what of it is not random."""
import thimble as tb
from registry import RANDOM, Refused, op


@op("nn.functional.dropout", "dropout")
def dropout(x, p=0.5, training=True, inplace=False):
    if training and 0 < p < 1:
        raise Refused(RANDOM)
    return tb.dropout(x, p=p) if training else x

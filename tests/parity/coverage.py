"""That no entry of PyTorch's databases is left out: each has an adapter or is listed as not offered."""
from collections.abc import Iterable

import thimble as tb
from not_offered import NOT_OFFERED
from registry import Adapter


def problems(kind: str, adapters: dict[str, Adapter], entries: Iterable[str]) -> list[str]:
    """What is wrong with the lists of one database, a line each."""
    names = set(entries)
    listed = [name for group in NOT_OFFERED.get(kind, {}).values() for name in group]
    found = [f"PyTorch has no {kind} named {name}, which an adapter is for"
             for name in adapters if name not in names]
    found += [f"PyTorch has no {kind} named {name}, which not_offered.py lists"
              for name in listed if name not in names]
    found += [f"{kind} {name} has neither an adapter nor a place in not_offered.py"
              for name in entries if name not in adapters and name not in listed]
    found += [f"not_offered.py lists {kind} {name} twice"
              for name in {n for n in listed if listed.count(n) > 1}]
    return found


def not_offered(kind: str, adapters: dict[str, Adapter]) -> dict[str, list[str]]:
    """The entries of a database that thimble has nothing for, by reason. An op may have come to have an
    adapter by its definition alone (ops_unary.py), whatever the list says."""
    left = {reason: [name for name in names if name not in adapters]
            for reason, names in NOT_OFFERED.get(kind, {}).items()}
    return {reason: names for reason, names in left.items() if names}


def offered() -> set[str]:
    """Functions and optimizers of thimble."""
    return {*tb.ops.__all__, *tb.optimizers.__all__}


def used(adapters: Iterable[Adapter]) -> set[str]:
    return {name for adapter in adapters for name in adapter.ours}


def unknown(adapters: Iterable[Adapter]) -> list[str]:
    """What adapters name and thimble has not."""
    known = offered() | {f"Value.{name}" for name in dir(tb.Value)}
    return [f"thimble has no {name}, which an adapter names"
            for name in sorted(used(adapters) - known)]


def without_entry(adapters: Iterable[Adapter]) -> list[str]:
    """Functions and optimizers of thimble that no adapter uses: the databases lack them."""
    return sorted(offered() - used(adapters))

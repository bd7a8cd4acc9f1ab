"""That nothing is left out: PyTorch's entries are adapted or listed as not offered, thimble's functions
are used by an adapter or listed as without a counterpart."""
from collections.abc import Iterable

import thimble as tb
from not_offered import NO_COUNTERPART, NOT_OFFERED
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
    found += [f"{kind} {name} has an adapter and is listed as not offered"
              for name in listed if name in adapters]
    found += [f"not_offered.py lists {kind} {name} twice"
              for name in {n for n in listed if listed.count(n) > 1}]
    return found


def unmatched(adapters: list[Adapter]) -> list[str]:
    """Functions and optimizers of thimble that no adapter names and no list excuses, and the reverse."""
    functions = {*tb.ops.__all__, *tb.optimizers.__all__}
    known = functions | {f"Value.{name}" for name in dir(tb.Value)}
    used = {name for adapter in adapters for name in adapter.ours}
    excused = {name for group in NO_COUNTERPART.values() for name in group}
    found = [f"thimble has no {name}, which an adapter names" for name in sorted(used - known)]
    found += [f"thimble has no {name}, which not_offered.py lists"
              for name in sorted(excused - functions)]
    found += [f"thimble's {name} has neither an adapter nor a place in NO_COUNTERPART"
              for name in sorted(functions - used - excused)]
    found += [f"thimble's {name} has an adapter and a place in NO_COUNTERPART"
              for name in sorted(used & excused)]
    return found

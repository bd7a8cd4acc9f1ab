"""Compares what two builds print with `test_ops --bits`: who gives the same bits on every processor.

usage: compare_bits.py LIST FILE FILE...

LIST names what differs, one a line: "reference OP REASON" or "fast OP REASON". An op that differs and
is not in it fails, and so does one that is in it and gives the same bits in all files. The hashes of
reference kernels are compared between files, those of fast kernels between all vector targets of all
files that multiply and add with one rounding. Kernels are compared where their inputs are the same. The
last line: "N passed, M failed".
"""

import sys
from collections import defaultdict
from pathlib import Path

KINDS = ("reference", "fast")
# Targets that round a product before they add it: their results differ wherever that counts.
NO_FMA = ("SCALAR", "EMU128", "SSE2", "SSSE3", "SSE4")


def read_list(path):
    """{(kind, op): reason}."""
    listed = {}
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split(maxsplit=2)
        if len(words) != 3 or words[0] not in KINDS or (words[0], words[1]) in listed:
            sys.exit(f"{path}:{number}: expected 'reference|fast OP REASON', each once, got: {line}")
        listed[words[0], words[1]] = words[2]
    return listed


def read_hashes(paths):
    """{(kind, op): {(case, inputs): {outputs}}}, and how many files have each (case, inputs)."""
    hashes = defaultdict(lambda: defaultdict(set))
    files = defaultdict(set)
    for path in paths:
        for line in Path(path).read_text().splitlines():
            case, kernel, inputs, outputs = line.split()
            if kernel in NO_FMA:
                continue
            kind = "reference" if kernel == "reference" else "fast"
            key = (kind, case.rpartition(":")[2])
            hashes[key][case, inputs].add(outputs)
            files[key, case, inputs].add(path)
    return hashes, files


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    paths = sys.argv[2:]
    listed = read_list(sys.argv[1])
    hashes, files = read_hashes(paths)
    wrong = [f"{kind} {op}: is in the list, and no file has it" for kind, op in listed if (kind, op) not in hashes]
    passed = 0
    same = {kind: 0 for kind in KINDS}
    for (kind, op), cases in sorted(hashes.items()):
        compared = {
            case: outputs
            for (case, inputs), outputs in cases.items()
            if len(files[(kind, op), case, inputs]) == len(paths)
        }
        different = [case for case, outputs in compared.items() if len(outputs) > 1]
        if not compared:
            wrong.append(f"{kind} {op}: the inputs differ in every case")
        elif different and (kind, op) not in listed:
            wrong.append(f"{kind} {op}: differs in {len(different)} of {len(compared)} cases, as {different[0]}")
        elif not different and (kind, op) in listed:
            wrong.append(f"{kind} {op}: is in the list, and gives the same bits in {len(compared)} cases")
        else:
            passed += 1
            same[kind] += not different
    for line in wrong:
        print(line)
    of_kind = {kind: sum(k == kind for k, _ in hashes) for kind in KINDS}
    print("The same bits: " + ", ".join(f"{same[k]} of {of_kind[k]} {k} kernels" for k in KINDS))
    print(f"{passed} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

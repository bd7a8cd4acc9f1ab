"""Runs ONNX's own node tests and networks on int8 through thimble's importer, and what thimble writes in onnxruntime."""
import argparse
import pathlib
import sys

import onnx

import canaries
import quantized
import report
import writer
from cases import all_cases
from runner import count

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "onnx.md"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./run onnx", description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="NAME",
                        help="cases whose name contains NAME alone; may be given again; \"write\": what thimble writes; "
                             "\"quantized\": networks on int8")
    parser.add_argument("--write", action="store_true", help="write docs/onnx.md")
    parser.add_argument("--counts", metavar="FILE", help="write the counts to a file")
    return parser.parse_args()


def main() -> int:
    args = arguments()
    cases = [case for case in all_cases()
             if not args.only or any(part in case.name for part in args.only)]
    if not cases and not any(part in word for part in args.only for word in ("write", "read quantized")):
        print("no case has such a name", file=sys.stderr)
        return 2
    results = count(cases)
    print(report.table(results))
    wrong = writer.problems(args.only)
    differing = quantized.problems(args.only)
    problems = [f for r in results for f in r.failures] + canaries.problems() + wrong + differing
    if not args.only:
        print(f"written: {writer.count()} graphs, {writer.count() - len(wrong)} run by onnxruntime and read back")
        print(f"on int8: {quantized.count()} models, {quantized.count() - len(differing)} as onnxruntime runs them")
        page = report.markdown(results, onnx.__version__)
        if args.write:
            PAGE.write_text(page)
        elif not PAGE.exists() or PAGE.read_text() != page:
            problems.append("docs/onnx.md is not what this run gives: write it with ./run onnx --write")
    for problem in problems:
        print(f"FAILED: {problem}")
    if args.counts:
        passed = sum(r.passed for r in results) + writer.count() - len(wrong) + quantized.count() - len(differing)
        refused = sum(r.cases - r.ran for r in results)
        lines = [f"{passed} {len(problems)} {refused}"]
        lines += [f"refused: {reason}" for r in results
                  for reason, n in r.refused.items() for _ in range(n)]
        lines += [f"failed: {problem}" for problem in problems]
        pathlib.Path(args.counts).write_text("\n".join(lines) + "\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

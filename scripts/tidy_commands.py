#!/usr/bin/env python3
"""Writes BUILD/tidy/compile_commands.json, in which every source file has the command of the unit that includes it.

usage: tidy_commands.py BUILD
"""

import json
import re
import sys
from pathlib import Path

INCLUDED = re.compile(r'^#include "(.*\.cpp)"', re.MULTILINE)


def commands_of(entry: dict[str, str]) -> list[dict[str, str]]:
    unit = Path(entry["directory"], entry["file"])
    if not unit.parent.name.endswith("units") or not unit.exists():
        return [entry]
    sources = [(unit.parent / name).resolve() for name in INCLUDED.findall(unit.read_text())]
    return [{"directory": entry["directory"], "file": str(source),
             "command": entry["command"].replace(entry["file"], str(source))} for source in sources]


def main() -> None:
    build = Path(sys.argv[1])
    entries = json.loads((build / "compile_commands.json").read_text())
    folder = build / "tidy"
    folder.mkdir(exist_ok=True)
    commands = [command for entry in entries for command in commands_of(entry)]
    (folder / "compile_commands.json").write_text(json.dumps(commands, indent=0))


if __name__ == "__main__":
    main()

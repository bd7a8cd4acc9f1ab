#!/usr/bin/env bash
# Compares thimble with PyTorch on the samples of PyTorch's own databases.
# usage: ./run parity [--only NAME]... [--write] [--jobs N]
# PyTorch is installed under build/torch with pip. --help says more.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

scripts/install_dependencies.sh python
python_environment || die "parity: pip could not install python/tests/requirements.txt"
torch_environment || die "parity: pip could not install PyTorch; the lines above say why"
configure release -DTHIMBLE_BUILD_PYTHON=ON "-DPython_EXECUTABLE=$PWD/build/python/bin/python"
build release python_package
PYTHONPATH=build/release/python exec "$torch_python" tests/parity "$@"

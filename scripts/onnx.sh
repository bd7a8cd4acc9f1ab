#!/usr/bin/env bash
# Runs the node tests of the onnx package through thimble's importer, and files that thimble writes in
# onnxruntime.
# usage: ./run onnx [--only NAME]... [--write]
# The packages are installed under build/onnx with pip. --help says more.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

scripts/install_dependencies.sh python
python_environment || die "onnx: pip could not install python/tests/requirements.txt"
onnx_environment || die "onnx: pip could not install tests/onnx/requirements.txt"
configure release -DTHIMBLE_BUILD_PYTHON=ON "-DPython_EXECUTABLE=$PWD/build/python/bin/python"
build release python_package
PYTHONPATH=build/release/python exec build/onnx/bin/python tests/onnx "$@"

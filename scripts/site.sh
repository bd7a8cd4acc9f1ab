#!/usr/bin/env bash
# Builds the documentation site, build/site/html: guide, reference, Python API, C++ headers. Building it
# takes packages from PyPI; reading it takes no network and no server.
# usage: scripts/site.sh [PACKAGE]    PACKAGE: a built python/thimble; without it one is built
set -euo pipefail
[ $# -eq 0 ] || package=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

if [ -z "${package-}" ]; then
  scripts/install_dependencies.sh python
  python_environment || die "pip could not install python/tests/requirements.txt"
  configure release -DTHIMBLE_BUILD_PYTHON=ON "-DPython_EXECUTABLE=$PWD/build/python/bin/python"
  build release python_package
  configure release -DTHIMBLE_BUILD_PYTHON=OFF # as ./run build wants it
  package=build/release/python/thimble
fi
site_environment || die "pip could not install docs/site/requirements.txt"
python3 scripts/site.py build/site "$package"
# The variable silences advertising.
NO_MKDOCS_2_WARNING=1 build/docs/bin/mkdocs build --quiet --strict -f build/site/mkdocs.yml
echo build/site/html/index.html

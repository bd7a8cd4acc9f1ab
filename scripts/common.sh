# shellcheck shell=bash
# Functions shared by the project's scripts. Source it from the repository's root.

# CMAKE_BUILD_PARALLEL_LEVEL has the same meaning as for cmake.
jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)}

# ccache makes rebuilds cheap if it is installed, also in other checkouts. It is optional.
if command -v ccache >/dev/null; then
  export CCACHE_BASEDIR=${CCACHE_BASEDIR-$PWD} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR-1}
  export CMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER-ccache}
  export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
fi

die() {
  echo "$*" >&2
  exit 1
}

# The LLVM versions that work, best first: 14 formats the code.
llvm_versions="14 15 16 17 18 19 20 21"

# llvm_version TOOL: the version whose TOOL is installed; fails if there is none.
llvm_version() {
  local v
  for v in $llvm_versions; do
    if command -v "$1-$v" >/dev/null; then echo "$v" && return; fi
  done
  return 1
}

# configure PRESET [cmake options]: quiet unless it fails.
configure() {
  local preset=$1 log
  shift
  log=$(mktemp)
  if ! cmake --preset "$preset" "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    die "cmake could not configure build/$preset; the lines above say why"
  fi
  rm -f "$log"
}

# environment FOLDER REQUIREMENTS: a virtual environment with these packages. Fails where pip cannot
# get them.
environment() {
  if cmp -s "$2" "$1/requirements.txt"; then return; fi
  rm -rf "$1"
  python3 -m venv "$1" &&
    "$1/bin/pip" install --quiet --disable-pip-version-check -r "$2" &&
    cp "$2" "$1/requirements.txt"
}

# The environment of the Python tests, in build/python.
python_environment() { environment build/python python/tests/requirements.txt; }

# The environment of ONNX's own tests, in build/onnx.
onnx_environment() { environment build/onnx tests/onnx/requirements.txt; }

# The environment that builds the documentation site, in build/docs.
site_environment() { environment build/docs docs/site/requirements.txt; }

# build PRESET [targets]
build() {
  local preset=$1
  shift
  cmake --build "build/$preset" --parallel "$jobs" ${1:+--target "$@"}
}

# The version of PyTorch for comparisons, and the Python that has it after torch_environment.
torch_version=2.13.0
torch_python=build/torch/bin/python

# torch_environment: a virtual environment in build/torch with PyTorch for the processor, Hugging
# Face's packages and what else the Python tests need. Fails where pip cannot get it.
torch_environment() {
  if "$torch_python" -c "import torch, numpy, safetensors, expecttest, pytest, mypy
from importlib.util import find_spec
assert torch.__version__.split('+')[0] == '$torch_version'
assert all(map(find_spec, ('tokenizers', 'transformers', 'peft')))" 2>/dev/null; then
    return
  fi
  echo "Installing PyTorch $torch_version under build/torch"
  "$torch_python" -c "" 2>/dev/null || python3 -m venv --clear build/torch &&
    "$torch_python" -m pip install --quiet --disable-pip-version-check \
      "torch==$torch_version" numpy safetensors expecttest tokenizers "transformers>=5,<6" "peft>=0.19,<1" \
      -r python/tests/requirements.txt
}

# demo_options DEMO OPTIONS...: sets out, boards and bin from the command line of a demo, whose usage stands at the
# beginning of its script. Reads caller, the folder that paths count from.
# shellcheck disable=SC2034,SC2154
demo_options() {
  local demo=$1
  shift
  while [ $# -gt 0 ]; do
    case $1 in
      --out | --board | --bin)
        [ $# -ge 2 ] || die "$demo: $1 needs a value; ./run $demo --help"
        case $1 in
          --out) out=$(cd "$caller" && realpath -m "$2") ;;
          --board) boards+=("$2") ;;
          --bin) bin=$(cd "$caller" && realpath "$2") ;;
        esac
        shift
        ;;
      -h | --help)
        sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[1]}"
        exit 0
        ;;
      *) die "$demo: unknown option $1; ./run $demo --help" ;;
    esac
    shift
  done
}

# stage TITLE: prints what a demo does next.
stage() { printf '\n== %s\n' "$*"; }

# demo_programs: builds thimble and mcu_demo where bin names no folder that has them.
demo_programs() {
  if [ -n "$bin" ]; then return; fi
  scripts/install_dependencies.sh build boards
  configure release
  build release thimble_cli mcu_demo
  bin=$PWD/build/release/bin
}

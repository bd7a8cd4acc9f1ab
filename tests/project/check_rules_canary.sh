#!/usr/bin/env bash
# Breaks every house rule once in a small tree: the check must find each of them, and nothing else.
# usage: check_rules_canary.sh PATH-OF-check_rules.sh
set -euo pipefail
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$tree"
mkdir -p include/thimble src/ops/{flicker,glow,soft_glow}
mkdir -p src/ops/families src/{import,recipes}
mkdir -p src/plan/{pack,swap,guess} src/{passes,ir,exec,novel,train,io,data,eval,program} apps/thimble python/{src,thimble} cmake scripts docs

printf 'namespace thimble::ops::glow_impl::HWY_NAMESPACE {\nnamespace thimble::ops {\n' \
  >src/ops/glow/simd.cpp
printf 'namespace thimble::ops::glow_impl {\nnamespace {\n' >src/ops/glow/op.cpp
printf 'namespace thimble {\nnamespace {\n' >src/ops/glow/function.cpp
printf 'return Unary<kFlicker>::folder();\n' >src/ops/flicker/op.cpp
touch src/ops/flicker/{attrs.h,op.h,ref.h,simd.cpp} src/ops/soft_glow/{attrs.h,dims.h,op.h,ref.h,test.cpp}
printf '#include <vector>\n#include <thimble/a.h>\n' >include/thimble/good.h
printf '#pragma once\n#include <zlib.h>\n' >include/thimble/foreign.h
seq 1 151 | sed 's|^|// |' >include/thimble/long.h
seq 1 501 | sed 's|^|// |' >src/passes/long.cpp
printf 'int x;\nconst char* a = "glow";\n' >src/passes/by_name.cpp
printf '#include "ops/glow/op.h"\n' >src/passes/by_header.cpp
# Against the order of the layers: upwards, by a public header, from a public header, from a folder
# that the order does not have. Downwards is right, and so are other projects' headers.
printf '#include <vector>\n#include "ir/graph.h"\n#include "exec/program.h"\n' >src/passes/upwards.cpp
printf '#include <thimble/types.h>\n#  include <thimble/trainer.h>\n' >src/ir/upwards.h
printf '#include <thimble/graph.h>\n#include <thimble/recipes.h>\n' >include/thimble/schedule.h
printf '#include <thimble/ops/glow.h>\n' >src/exec/composed.cpp
printf 'int y;\n' >src/novel/unknown.cpp
printf '#include "plan/arena.h"\n#include "plan/pack/pack.h"\n' >src/plan/pack/upwards.cpp
printf '#include "plan/arena.h"\n#include "plan/remat/schedule.h"\n' >src/plan/swap/beside.cpp
printf 'int y;\n' >src/plan/guess/unknown.cpp
printf '#include "plan/arena.h"\n#include "plan/pack/pack.h"\n' >src/plan/good.cpp
printf '#include <zlib.h>\n#include "plan/arena.h"\n#include "passes/passes.h"\n' >src/exec/good.cpp
printf '#include "simd/gemm.h"\n' >apps/thimble/kernel.cpp
printf 'bool glows = std::string_view(node.op->name) != "glow";\n' >apps/thimble/by_name.cpp
printf 'const char* kOp = "soft_glow";\n' | tee src/{data,eval,program}/by_name.cpp >/dev/null
printf '#include "parallel/thread_pool.h"\n' >python/src/pool.cpp
printf 'const char* kName = "soft_glow";\n      .name = "soft_glow",\n' >src/ops/soft_glow/op.cpp
printf 'auto op = ir::find_op("glow");\n' |
  tee src/ops/{soft_glow/rule.h,families/glow_sum.cpp,families/glow_cases.h,glow/test.cpp} src/{import,recipes}/by_name.cpp >/dev/null
printf '#include "ops/families/light/light.h"\n#include <thimble/ops/glow.h>\n' >src/train/by_header.cpp
printf 'bool glows = word == "glow" && std::string_view(op->name) == "glow";\n' >src/io/by_name.cpp
printf 'const char* kOp = "soft_glow";\n' >python/src/by_name.cpp
printf 'is_gradient = std::string_view(op.name).ends_with("_grad");\n' >src/eval/by_suffix.cpp
printf '# glow\nif name == "soft_glow":\n    y = _core.build_op("glow", [x], {})\n' >python/thimble/by_name.py
printf 'y = ops.glow(x)\nif name == "other":\n    pass\n' >python/thimble/good.py
printf 'if(op MATCHES "_grad$")\n' >cmake/by_suffix.cmake
# Spelled in two parts, so that the check of this file does not find them.
printf 'data=/ho%s/someone/data\n' me >scripts/path.sh
printf '// TO%s: later\n' DO >src/passes/open.cpp

cat >expected <<'EOF'
apps/thimble/by_name.cpp:1: an op is named outside its folder
apps/thimble/kernel.cpp:1: an include against the order of the layers
cmake/by_suffix.cmake:1: an op's name is taken apart
include/thimble/foreign.h:2: a public header includes the standard library and <thimble/...> alone
include/thimble/long.h:151: a public header has at most 150 lines
include/thimble/schedule.h:2: an include against the order of the layers
python/src/by_name.cpp:1: an op is named outside its folder
python/src/pool.cpp:1: an include against the order of the layers
python/thimble/by_name.py:2: an op is looked up or told apart by its name
python/thimble/by_name.py:3: an op is looked up or told apart by its name
scripts/path.sh:1: a path of one machine
src/data/by_name.cpp:1: an op is named outside its folder
src/eval/by_name.cpp:1: an op is named outside its folder
src/eval/by_suffix.cpp:1: an op's name is taken apart
src/exec/composed.cpp:1: an include against the order of the layers
src/exec/composed.cpp:1: the op glow is named outside its folder
src/io/by_name.cpp:1: an op is named outside its folder
src/ir/upwards.h:2: an include against the order of the layers
src/novel/unknown.cpp:1: an include against the order of the layers
src/ops/families/glow_sum.cpp:1: an op is looked up by its name
src/ops/flicker: a folder of an op of one tensor has at most 4 files, of others 6
src/ops/glow/function.cpp:2: an op's private code is outside of thimble::ops::<op>_impl
src/ops/glow/simd.cpp:2: all of it stands in thimble::ops::glow_impl
src/ops/soft_glow/rule.h:1: an op is looked up by its name
src/ops/soft_glow: a folder of an op of one tensor has at most 4 files, of others 6
src/passes/by_header.cpp:1: an include against the order of the layers
src/passes/by_header.cpp:1: the op glow is named outside its folder
src/passes/by_name.cpp:2: the op glow is named outside its folder
src/passes/long.cpp:501: more than 500 lines
src/passes/open.cpp:1: an open end: do it, or put it in the tracker
src/passes/upwards.cpp:3: an include against the order of the layers
src/plan/guess/unknown.cpp:1: an include against the order of the plan's folders
src/plan/pack/upwards.cpp:1: an include against the order of the plan's folders
src/plan/swap/beside.cpp:2: an include against the order of the plan's folders
src/program/by_name.cpp:1: an op is named outside its folder
src/train/by_header.cpp:2: an op is named outside its folder
EOF
if "$1" "$tree" >found 2>/dev/null; then
  echo "the check says that a tree full of breaks keeps the rules" >&2
  exit 1
fi
sort found | diff expected -

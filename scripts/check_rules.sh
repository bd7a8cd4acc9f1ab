#!/usr/bin/env bash
# Checks the house rules that a script can check; prints each violation as file:line: rule.
# usage: scripts/check_rules.sh [FOLDER]     FOLDER: the tree to check, the repository by default
set -euo pipefail
cd "${1-$(dirname "${BASH_SOURCE[0]}")/..}"
shopt -s nullglob globstar

found=0
breaks() { # RULE: the lines of standard input break it
  local line
  while IFS= read -r line; do
    echo "$line: $1"
    found=$((found + 1))
  done
}

longer_than() { # LINES FILES...
  local limit=$1
  shift
  [ $# -eq 0 ] || awk -v limit="$limit" 'FNR == limit + 1 { print FILENAME ":" FNR }' "$@"
}

# Prints the places of a pattern in files of these kinds, as file:line.
where() { # PATTERN FILES...
  local pattern=$1
  shift
  [ $# -eq 0 ] || grep -nHE "$pattern" "$@" | cut -d : -f 1,2 || true
}

code=({include,src,apps,examples,bench,tests,python,boards}/**/*.{h,c,cpp,py})
scripts=(run .ci/run scripts/*.sh tests/**/*.sh **/CMakeLists.txt cmake/*.cmake)
pages=(*.md docs/**/*.md)
public=(include/thimble/**/*.h src/ops/*/op.h)
# Build folders may be anywhere in the tree.
for list in code scripts pages; do
  declare -n files=$list
  kept=()
  for file in "${files[@]}"; do
    case $file in build/* | out/* | */build/*) ;; *) kept+=("$file") ;; esac
  done
  files=("${kept[@]}")
done
unset -n files

breaks "more than 500 lines" < <(longer_than 500 "${code[@]}" "${scripts[@]}")
breaks "a public header has at most 150 lines" < <(longer_than 150 "${public[@]}")
breaks "a public header includes the standard library and <thimble/...> alone" < <(
  where '^ *# *include' "${public[@]}" | while IFS=: read -r file line; do
    sed -n "${line}p" "$file" | grep -qE 'include <(thimble/[a-z0-9_/]+\.h|[a-z_]+)>' ||
      echo "$file:$line"
  done)
breaks "a path of one machine" < <(
  where '(^|[^A-Za-z0-9_.}])/(home|root|work|Users)/[A-Za-z]' "${code[@]}" "${scripts[@]}" "${pages[@]}" |
    grep -v '^scripts/check_rules.sh:' || true)
breaks "an open end: do it, or put it in the tracker" < <(
  where '\b(TODO|FIXME|XXX|HACK)\b' "${code[@]}" "${scripts[@]}" |
    grep -v '^scripts/check_rules.sh:' || true)

# Several simd.cpp are compiled as one unit.
for kernels in src/ops/*/simd.cpp; do
  op=$(basename "$(dirname "$kernels")")
  breaks "all of it stands in thimble::ops::${op}_impl" < <(
    grep -nE '^namespace thimble' "$kernels" | grep -vE ":namespace thimble::ops::${op}_impl(::| )" |
      cut -d : -f 1 | sed "s|^|$kernels:|" || true)
done

# Includes follow the layers. For each layer: the other layers that its files may include.
layers='
base:
parallel:  base
simd:      base parallel
ir:        base
ops:       base parallel simd ir
autodiff:  base ir
passes:    base ir autodiff
plan:      base ir autodiff passes
program:   base ir plan io
micro:     base ops
emit:      base ir plan program micro
exec:      base parallel simd ir passes plan program
data:      base parallel ir exec io
io:        base ir plan
train:     base parallel ir ops autodiff passes plan program exec data io
eval:      base parallel ir ops autodiff passes plan program exec data io train
quantize:  base ir ops passes data train
search:    base ir passes plan program data io train
import:    base ir ops passes io
ml_train:  base ir ops plan data train import
recipes:   base parallel ir ops autodiff passes plan exec data io train eval
apps:      base ir ops plan program emit exec data io import train eval quantize search recipes ml_train
python:    base ir ops autodiff passes plan exec data io import train eval quantize search recipes
'
# The public headers by their layers; all but these belong to ir.
public_layers='
error types literals: base
ops optimizer optimizers: ops
metrics: eval
import adapt export lora insert: import
quantize: quantize
scheme_search: search
instruction_model: search
plan swap: plan
tokenizer: io
data data_loader data_open data_split data_text: data
compiled_training evaluator fit lbfgs model_file optimizer_state predictor schedule schedule_settings trainer trainer_options: train
recipes: recipes
thimble: apps
'
breaks "an include against the order of the layers" < <(
  files=({include,src,apps,python/src}/**/*.{h,cpp,c})
  for i in "${!files[@]}"; do
    case ${files[i]} in */test.cpp | *_cases.h | */build/*) unset "files[i]" ;; esac # tests may all
  done
  [ ${#files[@]} -eq 0 ] || layers=$layers public_layers=$public_layers awk '
    function public_layer(path, name) { # path: "ops/relu.h", "plan.h"
      name = path
      sub(/[\/.].*/, "", name)
      return name in of_public ? of_public[name] : "ir"
    }
    BEGIN {
      count = split(ENVIRON["layers"], lines, "\n")
      for (i = 1; i <= count; ++i) {
        words = split(lines[i], word, /[: ]+/)
        if (words > 0) known[word[1]] = 1
        for (j = 1; j <= words; ++j) allowed[word[1], word[j]] = 1
      }
      count = split(ENVIRON["public_layers"], lines, "\n")
      for (i = 1; i <= count; ++i) {
        words = split(lines[i], word, /[: ]+/)
        for (j = 1; j < words; ++j) of_public[word[j]] = word[words]
      }
    }
    FNR == 1 {
      split(FILENAME, part, "/")
      layer = part[1] == "src" ? part[2] : part[1]
      if (layer == "include") layer = public_layer(part[3])
      if (!(layer in known)) print FILENAME ":" FNR
    }
    /^ *# *include *["<]/ && layer in known {
      path = $0
      sub(/^[^"<]*["<]/, "", path)
      sub(/[">].*/, "", path)
      split(path, part, "/")
      to = part[1] == "thimble" ? public_layer(substr(path, 9)) : part[1]
      if (to in known && !((layer, to) in allowed)) print FILENAME ":" FNR
    }' "${files[@]}")

# So do includes between the folders of src/plan. core: the files of src/plan itself.
plan_layers='
pack:
core: pack
order: core
remat: core order
update: core order remat
swap: core
budget: core order remat update swap
'
breaks "an include against the order of the plan's folders" < <(
  files=(src/plan/**/*.{h,cpp})
  [ ${#files[@]} -eq 0 ] || layers=$plan_layers awk '
    function folder(path, part) { return split(path, part, "/") > 2 ? part[2] : "core" }
    BEGIN {
      count = split(ENVIRON["layers"], lines, "\n")
      for (i = 1; i <= count; ++i) {
        words = split(lines[i], word, /[: ]+/)
        for (j = 1; j <= words; ++j) allowed[word[1], word[j]] = 1
      }
    }
    FNR == 1 {
      from = folder(substr(FILENAME, 5))
      if (!((from, from) in allowed)) print FILENAME ":" FNR
    }
    /^ *# *include *"plan\// {
      split($0, quoted, "\"")
      if (!((from, folder(quoted[2])) in allowed)) print FILENAME ":" FNR
    }' "${files[@]}")

# These folders use an op's definition and never its name.
nameless=(src/{ir,autodiff,passes,plan,exec,quantize,emit}/**/*.{h,cpp})
# attrs.h names the values of public enumerations, some of which have names of ops.
for i in "${!nameless[@]}"; do
  [ "${nameless[i]}" != src/ir/attrs.h ] || unset "nameless[i]"
done
for definition in src/ops/*/op.cpp; do
  op=$(basename "$(dirname "$definition")")
  breaks "the op $op is named outside its folder" < <(
    where "\"$op\"|[<\"](thimble/)?ops/${op}[/.]" "${nameless[@]}")
done

# Trainer, file formats, programs, data, scores, Python and the commands do not name ops either. Some of
# their settings have names of ops, such as "threshold". So a string counts only if it has an underscore,
# or is looked up or compared.
# Python binds time_distributed by name, because it takes a function, which no table describes.
callers=(src/{train,io,program,data,eval}/**/*.{h,cpp} apps/**/*.{h,cpp} python/src/**/*.{h,cpp})
names=$(grep -hoE 'ame = "[a-z0-9]+(_[a-z0-9]+)+"' src/ops/*/op.cpp | sed -E 's/.*"(.*)"/\1/' |
  sort -u | paste -sd '|')
breaks "an op is named outside its folder" < <(
  {
    where "[<\"](thimble/)?ops/[a-z0-9_]+[/.]" "${callers[@]}" | while IFS=: read -r file line; do
      sed -n "${line}p" "$file" | grep -qE 'ops/(families/|time_distributed\.h)' || echo "$file:$line"
    done
    where "find_op\(\"|op->name\)? *[=!]= *\"${names:+|\"($names)\"}" "${callers[@]}"
  } | sort -u)

# Facts about an op are fields of its definition, not endings of its name.
breaks "an op's name is taken apart" < <(
  {
    where "op(\.|->)name\)?\.(starts_with|ends_with|find)" \
      src/**/*.{h,cpp} apps/**/*.{h,cpp} python/src/**/*.{h,cpp}
    where "if\(op MATCHES" cmake/*.cmake
  } | sort -u)

# Python's files build graphs by the generated functions of ops. They decide nothing by an op's name
# and look none up by it.
every=$(grep -hoE '^ {6}\.name = "[a-z0-9_]+"' src/ops/*/{op,function}.cpp | sed -E 's/.*"(.*)"/\1/' |
  sort -u | paste -sd '|')
breaks "an op is looked up or told apart by its name" < <(
  where "build_(op|function)\([\"']|SPECS\[[\"']|name *[=!]= *[\"'](${every:-none})[\"']" \
    python/thimble/*.py python/generate_ops.py | sort -u)

# An op, a family or a pass that needs an op calls its builder function or a family's header.
# Recipes, importers and tests alone look ops up by name.
lookups=()
for file in src/**/*.{h,cpp}; do
  case $file in
    src/recipes/* | src/import/* | */test.cpp | *_test.cpp | *_cases.h | */build/*) ;;
    *) lookups+=("$file") ;;
  esac
done
breaks "an op is looked up by its name" < <(where 'find_op\("' "${lookups[@]}")

# Adding an op stays small: an op of one tensor has 4 files, others 6. An op with sizes of its own, a
# vector kernel and cases for PyTorch has one more; so has one whose simd.h gives others its kernels,
# and one with a kernel for microcontrollers beside all that.
files_of_larger_ops='
clip_gradient 7
ctc 7
grid_sample 7
int8_error_grad 8
local_response_norm 7
matmul 8
normalize 7
pow 6
quantized_conv2d_weight_grad 7
scaled_dot_product_attention 7
softmax_cross_entropy 7
storage_16bit 7
upsample2d 7
'
breaks "a folder of an op of one tensor has at most 4 files, of others 6" < <(
  for folder in src/ops/*/; do
    op=$(basename "$folder")
    files=("$folder"*)
    limit=6
    if grep -qs 'Unary<k' "${folder}op.cpp"; then limit=4; fi
    larger=$(sed -n "s/^$op //p" <<<"$files_of_larger_ops")
    [ ! -e "${folder}op.cpp" ] || [ ${#files[@]} -le "${larger:-$limit}" ] || echo "${folder%/}"
  done)

# Several ops are compiled as one unit.
breaks "an op's private code is outside of thimble::ops::<op>_impl" < <(
  awk 'FNR == 1 { space = "" }
    /^namespace / { if ($2 == "{") { if (space == "thimble" || space == "thimble::ops")
        print FILENAME ":" FNR } else space = $2 }' src/ops/*/{op,function}.cpp)

if [ "$found" -gt 0 ]; then
  echo "$found breaks of the house rules" >&2
  exit 1
fi
echo "house rules kept"

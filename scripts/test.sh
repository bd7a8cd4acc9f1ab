#!/usr/bin/env bash
# Every test: the development build, the comparison with PyTorch, ONNX's own tests, a part of the op tests on 64-bit Arm
# under qemu-user, kernels on microcontrollers in QEMU, then the address, undefined-behaviour and
# thread sanitizers, then each fuzzer for a few seconds. The last line counts them all.
# usage: ./run test [quick]      quick: the fast tests of the development build alone
# Environment: THIMBLE_DATA=DIR, real data for the tests that want it; THIMBLE_FUZZ_SECONDS;
# RC_PARAMS=seed=N, other random models than the usual ones.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

# The suites that use several threads, run with the thread sanitizer.
thread_suites="parallel exec simd data train"
# Runs under qemu-user: two of the forty parts of the op tests. The bits of all ops are compared.
arm_op_parts="0|8"
# The seed of random models: the same code gives the same verdict.
random_models=seed=1

# Files, because some stages run beside others.
results=$(mktemp -d)
totals=$results/totals summary=$results/summary reasons=$results/reasons failures=$results/failures
touch "$totals" "$summary" "$reasons" "$failures"
trap 'rm -rf "$results"' EXIT

record() { # STAGE PASSED FAILED SKIPPED SECONDS
  echo "$2 $3 $4" >>"$totals"
  printf '%-7s %5d passed %5d failed %5d skipped %5d s\n' "$@" >>"$summary"
}

# With randomized addresses some kernels leave too little room for the sanitizers' shadow memory.
# A fixed layout also makes failures repeatable.
fixed_layout=()
if setarch -R true 2>/dev/null; then fixed_layout=(setarch -R); fi

run_ctest() { # STAGE [ctest options], in build/STAGE
  local stage=$1 start=$SECONDS report=$PWD/build/$1/junit.xml status=0
  shift
  rm -f "$report"
  # ctest lists a program that this stage does not build as one test, <program>_NOT_BUILT.
  local left_out=_NOT_BUILT\$${RUN_CTEST_LEAVES_OUT+"|$RUN_CTEST_LEAVES_OUT"}
  # ctest leaves nothing out where it cannot read the expression.
  if ctest --test-dir "build/$stage" -N --exclude-regex "$left_out" 2>&1 | grep RegularExpression; then
    die "ctest cannot read which tests are left out"
  fi
  # One more than processors: a test of the swap file waits for the disk.
  "${fixed_layout[@]}" ctest --test-dir "build/$stage" --parallel $((jobs + 1)) --output-on-failure \
    --exclude-regex "$left_out" --no-tests=error --output-junit "$report" "$@" || status=$?
  [ -s "$report" ] || die "ctest left no report in build/$stage"
  count() { sed -n "s/^[[:space:]]*$1=\"\([0-9]*\)\".*/\1/p" "$report" | head -n 1; }
  local tests failed skipped
  tests=$(count tests) failed=$(count failures) skipped=$(count skipped)
  # The report counts a program that could not start as skipped; ctest's status does not.
  if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
    failed=$skipped
    skipped=0
  fi
  record "$stage" $((tests - failed - skipped)) "$failed" "$skipped" $((SECONDS - start))
  # <testcase name="..." ...> of a failed test holds status="fail".
  sed -n "s/.*<testcase name=\"\([^\"]*\)\".* status=\"fail\".*/$stage \1/p" "$report" >>"$failures"
  sed -n '/^Vector targets: /{s/^/        /p;q}' "build/$stage/Testing/Temporary/LastTest.log" >>"$summary"
  # The line below GoogleTest's "file:line: Skipped" says why.
  grep -h -A 1 ': Skipped$' "build/$stage/Testing/Temporary/LastTest.log" |
    grep -v -e ': Skipped$' -e '^--$' >>"$reasons" || true
}

# The Python package of the development build. The full run has PyTorch, which some tests need.
run_python() { # [quick]
  if [ "${python[0]}" = -DTHIMBLE_BUILD_PYTHON=OFF ]; then
    record python 0 0 1 0
    echo "the Python package: pip could not install python/tests/requirements.txt" >>"$reasons"
    return
  fi
  local start=$SECONDS report=$PWD/build/dev/python.xml text=$PWD/build/dev/python.txt
  local python=build/python/bin/python
  if [ "${1-}" != quick ] && torch_environment; then python=$torch_python; fi
  rm -f "$report"
  PYTHONPATH=build/dev/python timeout 900 "$python" -m pytest -q -rsfE --junitxml "$report" \
    -p no:cacheprovider | tee "$text" || true
  [ -s "$report" ] || die "pytest left no report in build/dev"
  count() { sed -n "s/.*<testsuite [^>]*$1=\"\([0-9]*\)\".*/\1/p" "$report" | head -n 1; }
  local tests failed skipped
  tests=$(count tests) skipped=$(count skipped)
  failed=$(($(count failures) + $(count errors)))
  record python $((tests - failed - skipped)) "$failed" "$skipped" $((SECONDS - start))
  sed -n 's/^SKIPPED \[[0-9]*\] //p' "$text" >>"$reasons"
  sed -n 's/^\(FAILED\|ERROR\) /python /p' "$text" >>"$failures"
}

# Compares thimble with PyTorch on the samples of PyTorch's own test databases.
run_parity() {
  local start=$SECONDS counts=$PWD/build/dev/parity.txt passed failed refused
  if ! torch_environment; then
    record parity 0 0 1 $((SECONDS - start))
    echo "parity: pip could not install PyTorch" >>"$reasons"
    return
  fi
  rm -f "$counts"
  PYTHONPATH=build/dev/python "$torch_python" tests/parity --counts "$counts" || true
  [ -s "$counts" ] || die "the parity suite left no counts in build/dev"
  read -r passed failed refused <"$counts"
  record parity "$passed" "$failed" "$refused" $((SECONDS - start))
  sed -n 's/^refused: /parity refuses /p' "$counts" >>"$reasons"
  sed -n 's/^failed: /parity /p' "$counts" >>"$failures"
}

# Runs ONNX's own node tests through the importer.
run_onnx() {
  local start=$SECONDS counts=$PWD/build/dev/onnx.txt passed failed refused
  if ! onnx_environment; then
    record onnx 0 0 1 $((SECONDS - start))
    echo "onnx: pip could not install the onnx package" >>"$reasons"
    return
  fi
  rm -f "$counts"
  PYTHONPATH=build/dev/python build/onnx/bin/python tests/onnx --counts "$counts" || true
  [ -s "$counts" ] || die "the ONNX suite left no counts in build/dev"
  read -r passed failed refused <"$counts"
  record onnx "$passed" "$failed" "$refused" $((SECONDS - start))
  sed -n 's/^refused: /onnx refuses /p' "$counts" >>"$reasons"
  sed -n 's/^failed: /onnx /p' "$counts" >>"$failures"
}

# Tests the wheel, linked to the library in build/dev, in an environment with NumPy only.
run_wheel() {
  local start=$SECONDS passed=0 clean
  clean=$(mktemp -d)
  if build/python/bin/pip wheel --quiet --no-deps --no-build-isolation -w build/wheels \
    -C build-dir=build/dev -C cmake.build-type=RelWithDebInfo \
    -C cmake.define.THIMBLE_BUILD_APPS=ON -C cmake.define.THIMBLE_INSTALL=ON \
    -C cmake.define.THIMBLE_VECTOR_TARGET=all . &&
    python3 -m venv "$clean" &&
    "$clean/bin/pip" install --quiet --disable-pip-version-check build/wheels/thimble-*.whl &&
    (cd "$clean" && bin/python "$OLDPWD/examples/digits.py"); then
    passed=1
  fi
  rm -rf "$clean"
  record wheel "$passed" $((1 - passed)) 0 $((SECONDS - start))
}

# Why this machine cannot run programs for 64-bit Arm; empty: it can.
why_no_arm() {
  if [ "$(uname -m)" != x86_64 ]; then
    echo "only x86-64 has the cross-compiler"
  elif ! scripts/install_dependencies.sh arm >&2 || ! command -v aarch64-linux-gnu-g++ >/dev/null ||
    ! command -v qemu-aarch64 >/dev/null; then
    echo "the cross-compiler or qemu-user cannot be installed"
  elif ! scripts/arm_sysroot.sh >&2; then
    echo "apt could not get the libraries for arm64"
  fi
}

# Cross-compiled for Arm and emulated: parts of the op tests, and the bits that all ops give there
# beside those of the development build.
run_arm() {
  local start=$SECONDS reason
  reason=$(why_no_arm)
  if [ -n "$reason" ]; then
    record arm 0 0 1 $((SECONDS - start))
    echo "64-bit Arm: $reason" >>"$reasons"
    return
  fi
  configure aarch64
  build aarch64 test_ops
  run_ctest aarch64 --tests-regex "^ops\.part_($arm_op_parts)$"
  compare_bits
}

compare_bits() {
  local start=$SECONDS found=build/aarch64/bits.compared counts
  rm -f "$found"
  # A missing line counts as not compared, and therefore as a failure.
  build/dev/bin/test_ops --bits >build/dev/bits || echo "test_ops --bits failed"
  qemu-aarch64 -L /usr/aarch64-linux-gnu build/aarch64/bin/test_ops --bits >build/aarch64/bits ||
    echo "test_ops --bits failed on 64-bit Arm"
  grep -q ' NEON ' build/aarch64/bits || die "no kernel ran on NEON"
  python3 tests/harness/compare_bits.py tests/harness/bits_that_differ.txt build/dev/bits \
    build/aarch64/bits | tee "$found" || true
  counts=$(tail -n 1 "$found")
  [[ $counts =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] || die "no bits were compared"
  record bits "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" 0 $((SECONDS - start))
  sed -n 's/^\(fast\|reference\) [^ ]*: /bits &/p' "$found" >>"$failures"
}

# The mathematics of reference kernels on emulated microcontrollers: the host's bits.
run_boards() {
  local start=$SECONDS found=build/dev/boards.txt counts
  tests/boards/same_bits.sh "$PWD" build/dev/bin/thimble | tee "$found" || true
  counts=$(tail -n 1 "$found")
  [[ $counts =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]] || die "no board was tested"
  record boards "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "${BASH_REMATCH[3]}" $((SECONDS - start))
  sed -n 's/^skipped: /boards: /p' "$found" >>"$reasons"
  sed -n 's/^FAILED: /boards /p' "$found" >>"$failures"
}

run_fuzzers() {
  local start=$SECONDS counts
  scripts/fuzz.sh build/asan "${THIMBLE_FUZZ_SECONDS-5}" | tee "$reasons.fuzz" || true
  counts=$(tail -n 1 "$reasons.fuzz")
  sed -n 's/ FAILED:$//p' "$reasons.fuzz" >>"$failures"
  rm -f "$reasons.fuzz"
  [[ $counts =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] || die "the fuzzers did not run"
  record fuzz "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" 0 $((SECONDS - start))
}

run_sanitizers() {
  local version compiler targets=() suite
  # The development build runs every test. Here some only repeat what others run, ten times slower.
  # ctest takes no more than nine parentheses.
  local repeats=(
    # Whole trainings from the command line, and what pages and tables say.
    '^cli_budget' '^cli_json' '^cli_progress' '^cli_resume' '^cli_text' CliImages CliUntrainedText '^pages' '^strategy_rows'
    '^cli_scheme' '^cli_quantize.writes_a_file' '^cli_quantize.reports_both' '^cli_program.trains_to_the_bits'
    '^cli_failure.of_a_budget' '^cli_failure.of_a_resume_with' '^configure.auto_trains' '^configure.a_budget_that'
    '^model_file.stands_in_for_a_recipe'
    # Exported sources, whose programs no sanitizer watches; a budget of them is left.
    'cli_export_c.*the_bits_of_the_engine'
    # Whole trainings of recipes: a training with a budget is left that swaps.
    'lowers_the_loss' 'lowers_its_loss' '^recipes/budget[.].*/lenet5' '^recipes/budget[.].*/mlp'
    '^quantize_recipes' '^prepare_qat' 'trains_recipes' '^micro_batches.of_recipes' '^micro_batches.keep_their_bits'
    '^mixed_precision.takes_less' '^mixed_precision.tiles_the' '^mixed_precision.is_the_same_on'
    '^saved_activations.give_the_same_bits' '^swapped_training.does_without_a_file_for_which'
    # Searches among many plans.
    'recipe_packing' 'recipe_order' '^nearest_budget' '^search_scheme' '^instruction_model.limits' '^program_tables.count_in_the_budget'
    '^trainer.keeps_every_budget_above' '^trainer.evaluates_and_trains_last' '^micro_batches.are_not'
    '^micro_batches.are_as_many' '^quantized_training.plans_the_bytes' '^quantized_training.holds_parameters_in'
    '^saved_activations.keep_a_budget' '^state.keeps_its_first_plan' '^memory.a_long_program'
    '^recompute.gives_the_smallest' '^recompute.starts_without' '^recompute.is_near' '^recompute.halves' '^little_products'
    '^order.is_exact_up_to' '^order.is_the_best_of_all' '^search.finds_a_scheme'
    # Convolutions that others compute, too, and changes of program files that the fuzzer makes, too: files of programs
    # with and without swap are left.
    '^shapes/Conv[.]transpose_is_the_adjoint' '^options/damaged_with_right_checksums[.].*/[124]$'
    # Times.
    '^large_program'
  )
  # These run with several threads: the thread sanitizer alone runs them.
  local on_threads=(
    '^recipes/budget[.].*/vae$' '^recipes/saved_activations' '^swapped_training.saves_and_resumes' '^scheme.has_the_same_bits_on'
    '^error_type.of_i8_takes_less'
  )
  version=$(llvm_version clang++) || die "the sanitizer builds need clang"
  compiler=(-DCMAKE_C_COMPILER="clang-$version" -DCMAKE_CXX_COMPILER="clang++-$version")

  configure asan "${compiler[@]}" -DTHIMBLE_BUILD_FUZZERS=ON
  build asan sanitized_tests fuzzers
  local RUN_CTEST_LEAVES_OUT
  RUN_CTEST_LEAVES_OUT=$(IFS='|' && echo "${repeats[*]}|${on_threads[*]}")
  RC_PARAMS=${RC_PARAMS-$random_models max_success=5} run_ctest asan --label-exclude 'slow|project|models'
  run_fuzzers

  configure tsan "${compiler[@]}"
  for suite in $thread_suites; do targets+=("test_$suite"); done
  # Comparisons of convolutions and of mathematics on one thread, and files that one thread reads.
  repeats+=('^shapes/Conv[.].*_equals_the_reference_on_every_target' '^elementwise.every_op_is_right_for_every_float'
    '^checkpoint.finds_every_one' '^mnist.reads_the_real_set')
  RUN_CTEST_LEAVES_OUT=$(IFS='|' && echo "${repeats[*]}")
  build tsan "${targets[@]}"
  run_ctest tsan --label-regex "^(${thread_suites// /|})$" --label-exclude slow
}

# What the development build is needed for when its own tests have run.
run_after_dev() {
  local boards status=0
  # The wheel comes first: it may link the program again that the boards' tests run.
  if [ "${python[0]}" = -DTHIMBLE_BUILD_PYTHON=ON ]; then run_wheel; fi
  run_boards >"$results/boards" 2>&1 &
  boards=$!
  run_python
  if [ "${python[0]}" = -DTHIMBLE_BUILD_PYTHON=ON ]; then
    run_parity
    run_onnx
  fi
  wait $boards || status=$?
  cat "$results/boards"
  return $status
}

scripts/install_dependencies.sh test
# The whole run builds the benchmarks, too, so that they stay correct C++.
benchmarks=(-DTHIMBLE_BUILD_BENCH=OFF)
if [ "${1-}" != quick ]; then
  scripts/install_dependencies.sh bench
  scripts/install_dependencies.sh boards || true
  benchmarks=(-DTHIMBLE_BUILD_BENCH=ON)
fi
python=(-DTHIMBLE_BUILD_PYTHON=OFF)
if python_environment; then
  python=(-DTHIMBLE_BUILD_PYTHON=ON "-DPython_EXECUTABLE=$PWD/build/python/bin/python")
fi
configure dev "${python[@]}" "${benchmarks[@]}"
build dev
if [ "${1-}" = quick ]; then
  RC_PARAMS=${RC_PARAMS-$random_models} run_ctest dev --label-exclude slow
else
  RC_PARAMS=${RC_PARAMS-$random_models} run_ctest dev
fi
if [ "${1-}" = quick ]; then
  run_python quick
else
  # Most of what comes after is two processes, which the compilers for Arm run beside.
  run_after_dev >"$results/after_dev" 2>&1 &
  after_dev=$! status=0
  run_arm
  wait $after_dev || status=$?
  cat "$results/after_dev"
  [ $status -eq 0 ] || die "a stage could not run; the lines above say why"
  run_sanitizers
fi

echo
cat "$summary"
if [ -s "$reasons" ]; then
  echo "Skipped, and why:"
  sort "$reasons" | uniq -c
fi
if [ -s "$failures" ]; then
  echo "Failed:"
  cat "$failures"
fi
awk '{ passed += $1; failed += $2; skipped += $3 }
  END { print passed + 0 " passed, " failed + 0 " failed, " skipped + 0 " skipped"; exit failed > 0 }' "$totals"

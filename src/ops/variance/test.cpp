#include "ops/families/reduction/reduction_cases.h"

namespace thimble::test::variance_test {
namespace {

OpCases cases() {
  OpCases table = reduction_cases<VarianceOptions>(0);
  const VarianceOptions whole{.axes = {1}, .correction = 0.0};
  table.cases.push_back(reduction_case("all_there_is", {3, 7}, whole, {3}, 0));
  return table;
}

}  // namespace

THIMBLE_OP_CASES(variance) { return cases(); }
THIMBLE_OP_CASES(standard_deviation) { return cases(); }

}  // namespace thimble::test::variance_test

#include <cmath>

#include "ops/families/reduction/reduction_cases.h"

namespace thimble::test::norm_test {

THIMBLE_OP_CASES(norm) {
  constexpr double kGap = 0.1;
  OpCases table = reduction_cases<NormOptions>(kGap);
  const auto add = [&](const char* name, double p) {
    const NormOptions options{.axes = {1}, .p = p};
    table.cases.push_back(reduction_case(name, {3, 7}, options, {3}, kGap));
  };
  add("magnitudes", 1.0);
  add("cubes", 3.0);
  add("half", 0.5);
  add("negative", -1.5);
  add("count", 0.0);
  add("largest", INFINITY);
  add("smallest", -INFINITY);
  table.rejects.push_back({"no_number",
                           {{.shape = {3, 7}}},
                           ir::Attrs::of(NormOptions{.p = NAN}),
                           "expected numbers, got nan"});
  return table;
}

}  // namespace thimble::test::norm_test

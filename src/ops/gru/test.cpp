#include "harness/op_cases.h"
#include "ops/common/recurrent.h"

namespace thimble::test {
namespace {

struct Sizes {
  int64_t n, t, units;
};

OpCase scan(const char* name, const Sizes& z, bool reverse, bool bias, bool h0) {
  const Shape states{z.n, z.t, z.units};
  return {.name = name,
          .inputs = {{.shape = {z.n, z.t, 3 * z.units}},
                     {.shape = {3 * z.units, z.units}},
                     {.shape = {3 * z.units}, .absent = !bias},
                     {.shape = {z.n, z.units}, .absent = !h0}},
          .attrs = ir::Attrs::of(ops::ScanAttrs{.reverse = reverse}),
          .expect = {states, {z.n, z.t, 3 * z.units}, states},
          .no_cotangent = {1, 2}};
}

}  // namespace

THIMBLE_OP_CASES(gru_scan) {
  const auto attrs = ir::Attrs::of(ops::ScanAttrs{});
  const TensorSpec none{.absent = true};
  return {
      .cases = {scan("plain", {2, 4, 3}, false, false, false),
                scan("bias", {2, 4, 3}, false, true, false),
                scan("first_state", {2, 4, 3}, false, true, true),
                scan("reverse", {2, 4, 3}, true, true, false),
                scan("reverse_first_state", {3, 4, 5}, true, false, true),
                scan("one_step", {1, 1, 2}, false, true, false),
                scan("one_step_first_state", {1, 1, 2}, true, true, true),
                scan("one_unit", {3, 5, 1}, false, true, true),
                scan("no_batch", {0, 3, 2}, false, true, true),
                scan("many_sequences", {19, 3, 70}, false, true, true)},
      .rejects = {{"weights",
                   {{.shape = {2, 4, 3}}, {.shape = {3, 4}}, none, none},
                   attrs,
                   "weights [3 * units, units]"},
                  {"bias",
                   {{.shape = {2, 4, 6}}, {.shape = {6, 2}}, {.shape = {2}}, none},
                   attrs,
                   "a bias [3 * units]"}},
  };
}

}  // namespace thimble::test

#include "ops/families/recurrent/recurrent_cases.h"

namespace thimble::test::rnn_test {
namespace {

struct Sizes {
  int64_t n, t, units;
};

OpCase scan(const char* name, const Sizes& z, const ops::ScanAttrs& attrs, bool h0) {
  return {.name = name,
          .inputs = {{.shape = {z.n, z.t, z.units}},
                     {.shape = {z.units, z.units}},
                     {.shape = {z.n, z.units}, .absent = !h0}},
          .attrs = ir::Attrs::of(attrs),
          .expect = {{z.n, z.t, z.units}}};
}

}  // namespace

THIMBLE_OP_CASES(rnn_scan) {
  const auto attrs = ir::Attrs::of(ops::ScanAttrs{});
  return {
      .cases = {scan("plain", {2, 4, 3}, {}, false), scan("first_state", {2, 4, 3}, {}, true),
                scan("reverse", {2, 4, 3}, {.reverse = true}, false),
                scan("reverse_first_state", {3, 4, 5}, {.reverse = true}, true),
                scan("relu", {2, 3, 3}, {.relu = true}, true),
                scan("one_step", {1, 1, 2}, {}, false),
                scan("one_step_first_state", {1, 1, 2}, {}, true),
                scan("one_unit", {3, 5, 1}, {}, true), scan("no_batch", {0, 3, 2}, {}, true),
                scan("many_sequences", {19, 3, 70}, {}, true)},
      .rejects = {{"weights",
                   {{.shape = {2, 4, 3}}, {.shape = {3, 4}}, {.absent = true}},
                   attrs,
                   "weights [1 * units, units]"},
                  {"first_state",
                   {{.shape = {2, 4, 3}}, {.shape = {3, 3}}, {.shape = {1, 3}}},
                   attrs,
                   "first states [N, units]"}},
  };
}

TEST(rnn, zoneout_keeps_the_state_or_takes_the_next) {
  check_zoneout([](Value x, Value h) { return rnn_cell(x, h, {.units = 64, .zoneout = 0.5}); },
                0.0F);
}

}  // namespace thimble::test::rnn_test

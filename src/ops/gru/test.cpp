#include <gmock/gmock.h>
#include <thimble/error.h>
#include <thimble/ops.h>

#include "ops/families/recurrent/recurrent_cases.h"

namespace thimble::test::gru_test {
namespace {

OpCase scan(const ScanSizes& z, bool bias, bool h0) {
  const Shape states{z.n, z.t, z.units};
  return {.inputs = scan_inputs(z, 3, {3 * z.units}, bias, h0),
          .expect = {states, {z.n, z.t, 3 * z.units}, states},
          .no_cotangent = {1, 2}};
}

}  // namespace

THIMBLE_OP_CASES(gru_scan) {
  const auto attrs = ir::Attrs::of(ops::ScanAttrs{});
  const TensorSpec none{.absent = true};
  return {
      .cases = scan_cases(scan),
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

TEST(gru, zoneout_keeps_the_state_or_takes_the_next) {
  check_zoneout([](Value x, Value h) { return gru_cell(x, h, {.units = 64, .zoneout = 0.5}); },
                0.35F);
}

TEST(gru, refuses_shares_outside_0_to_1) {
  const auto refused = [](const auto& build, const char* what) {
    Graph g;
    EXPECT_THAT(
        [&] {
          build(g.input("x", {5, 3}));
        },
        testing::ThrowsMessage<Error>(testing::HasSubstr(what)));
  };
  refused([](Value x) { gru(x, {.units = 2, .dropout = 1.5}); },
          "[gru] expected dropout of 0 to 1");
  refused([](Value x) { lstm(x, {.units = 2, .dropout = -0.1}); },
          "[lstm] expected dropout of 0 to 1");
  refused([](Value x) { rnn(x, {.units = 2, .dropout = 2.0}); }, "[rnn] expected dropout");
  refused(
      [](Value x) {
        gru_cell(reshape(x, {-1, 15}), {}, {.units = 2, .zoneout = 1.5});
      },
      "[gru_cell] expected zoneout of 0 to 1, got 1.5");
  refused(
      [](Value x) {
        lstm_cell(reshape(x, {-1, 15}), {}, {}, {.units = 2, .zoneout_c = -1.0});
      },
      "[lstm_cell] expected zoneout_c of 0 to 1");
}

}  // namespace thimble::test::gru_test

#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_run.h"
#include "ops/families/recurrent/recurrent_cases.h"

namespace thimble::test::lstm_test {
namespace {

OpCase scan(const ScanSizes& z, bool h0, bool c0) {
  const Shape states{z.n, z.t, z.units};
  return {.inputs = scan_inputs(z, 4, {z.n, z.units}, h0, c0),
          .expect = {states, states, {z.n, z.t, 4 * z.units}},
          .no_cotangent = {2}};
}

}  // namespace

THIMBLE_OP_CASES(lstm_scan) {
  const auto attrs = ir::Attrs::of(ops::ScanAttrs{});
  const TensorSpec none{.absent = true};
  return {
      .cases = scan_cases(scan),
      .rejects = {{"weights",
                   {{.shape = {2, 4, 3}}, {.shape = {3, 4}}, none, none},
                   attrs,
                   "weights [4 * units, units]"},
                  {"no_steps",
                   {{.shape = {2, 0, 8}}, {.shape = {8, 2}}, none, none},
                   attrs,
                   "one step or more"},
                  {"first_cell",
                   {{.shape = {2, 4, 8}}, {.shape = {8, 2}}, none, {.shape = {2, 3}}},
                   attrs,
                   "first states [N, units]"}},
  };
}

TEST(lstm, stacks_layers_and_directions) {
  Graph g;
  const Value x = g.input("x", {5, 3});
  const LstmResult r = lstm(x, {.units = 4, .layers = 2, .bidirectional = true, .name = "l"});
  EXPECT_EQ(r.y.shape(), (Shape{kBatch, 5, 8}));
  EXPECT_EQ(r.h.shape(), (Shape{kBatch, 4, 4}));
  EXPECT_EQ(r.c.shape(), (Shape{kBatch, 4, 4}));
  EXPECT_EQ(g.ir().find_source("l.weight_ih_l1_reverse").shape(), (Shape{16, 8}));
  EXPECT_THROW(lstm(x, {.units = 0}), Error);
  EXPECT_THROW(lstm(x, g.input("h0", {1, 4}), Value(), {.units = 4, .layers = 2}), Error);
}

TEST(lstm, projects_its_hidden_state) {
  Graph g;
  const Value x = g.input("x", {5, 3});
  const LstmOptions options{
      .units = 4, .layers = 2, .bidirectional = true, .projection = 2, .name = "l"};
  const LstmResult r = lstm(x, g.input("h0", {4, 2}), g.input("c0", {4, 4}), options);
  EXPECT_EQ(r.y.shape(), (Shape{kBatch, 5, 4}));
  EXPECT_EQ(r.h.shape(), (Shape{kBatch, 4, 2}));
  EXPECT_EQ(r.c.shape(), (Shape{kBatch, 4, 4}));
  EXPECT_EQ(g.ir().find_source("l.weight_ih_l1").shape(), (Shape{16, 4}));
  EXPECT_EQ(g.ir().find_source("l.weight_hh_l1").shape(), (Shape{16, 2}));
  EXPECT_EQ(g.ir().find_source("l.weight_hr_l1_reverse").shape(), (Shape{2, 4}));
  EXPECT_THROW(lstm(x, {.units = 4, .projection = 4}), Error);
  EXPECT_THROW(lstm(x, g.input("wide", {1, 4}), Value(), {.units = 4, .projection = 2}), Error);
}

// A cell is a layer of one step.
TEST(lstm, cells_make_the_layer) {
  Graph g;
  const Value x = g.constant("x", {1, 2, 2}, {1.0F, -2.0F, 0.5F, 3.0F});
  const LstmResult layer = lstm(x, {.units = 3, .name = "layer"});
  const auto step = [&](int64_t t) { return reshape(slice(x, 1, t, t + 1), {1, 2}); };
  const LstmState first = lstm_cell(step(0), {}, {}, {.units = 3, .name = "a"});
  const LstmState second = lstm_cell(step(1), first.h, first.c, {.units = 3, .name = "b"});
  // All biases are 0.2 and all weights 0.1 times that.
  for (ir::ValueData& value : g.ir().values) {
    if (value.role != ir::Role::parameter) continue;
    value.role = ir::Role::constant;
    const bool weight = value.name->find("weight") != std::string::npos;
    value.data = Array(
        std::vector<float>(static_cast<size_t>(value.type.shape.elements()), weight ? 0.1F : 0.2F),
        value.type.shape);
  }
  EXPECT_EQ(evaluate(reshape(layer.h, {1, 3})), evaluate(second.h));
  EXPECT_EQ(evaluate(reshape(layer.c, {1, 3})), evaluate(second.c));
}

TEST(lstm, zoneout_keeps_states_or_takes_the_next) {
  // The next c is 0.35.
  check_zoneout(
      [](Value x, Value h) { return lstm_cell(x, h, h, {.units = 64, .zoneout_h = 0.5}).h; },
      std::tanh(0.35F) / 2.0F);
  check_zoneout(
      [](Value x, Value h) { return lstm_cell(x, h, h, {.units = 64, .zoneout_c = 0.5}).c; },
      0.35F);
}

}  // namespace thimble::test::lstm_test

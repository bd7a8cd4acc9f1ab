#include "plan/arena.h"

#include <gtest/gtest.h>
#include <thimble/ops.h>

#include "exec/program.h"
#include "models/small_models.h"
#include "plan/order/order.h"
#include "train/compile.h"

namespace thimble::plan::arena_test {
namespace {

ir::Graph step_graph(int64_t batch) {
  return train::training_graph(test::small_network().ir(), {}, batch, train::StepKind::update);
}

TEST(arena, no_two_live_buffers_overlap) {
  const exec::Program program(step_graph(8), {});
  const auto& buffers = program.plan().buffers;
  ASSERT_GT(buffers.size(), 10U);
  for (size_t a = 0; a < buffers.size(); ++a) {
    EXPECT_EQ(buffers[a].offset % kAlignment, 0);
    EXPECT_LE(buffers[a].offset + buffers[a].bytes, program.plan().arena_bytes);
    for (size_t b = 0; b < a; ++b) {
      const bool together =
          buffers[a].birth < buffers[b].death && buffers[b].birth < buffers[a].death;
      const bool overlap = buffers[a].offset < buffers[b].offset + buffers[b].bytes &&
                           buffers[b].offset < buffers[a].offset + buffers[a].bytes;
      EXPECT_FALSE(together && overlap) << buffers[a].name << " and " << buffers[b].name;
    }
  }
}

TEST(arena, takes_less_with_buffers_in_place_and_ordered) {
  const exec::Program plain(step_graph(32), {.optimize = false});
  const exec::Program packed(step_graph(32), {});
  EXPECT_LT(packed.plan().arena_bytes, plain.plan().arena_bytes);
}

// Whether the op's result may take the memory of x, which is both of its inputs.
bool works_in_place_on_both(const char* op, bool through_a_view) {
  ir::Graph graph;
  const Value source = graph.source("source", {DType::f32, {4, 6}}, ir::Role::input);
  const Value x = exp(source);
  const Value second = through_a_view ? reshape(x, {4, 6}) : x;
  const ir::OpDef* const def = ir::find_op(op);
  const Value y = graph.add1(*def, ir::Attrs::defaults(def->signature.attrs), {x, second});
  graph.outputs = {{"y", y.id()}};
  const Arena arena = plan_arena(graph, {});
  const auto buffer = [&](const Value& v) {
    return arena.buffer_of_value[static_cast<size_t>(v.id())];
  };
  return buffer(x) == buffer(y);
}

TEST(arena, lets_an_elementwise_op_write_over_a_value_that_it_reads_twice) {
  EXPECT_TRUE(works_in_place_on_both("mul", false));
  EXPECT_TRUE(works_in_place_on_both("mul", true));
}

// softmax_grad sums over a row of both inputs: it may overwrite either one, but not a value that is
// both.
TEST(arena, keeps_a_value_that_another_op_reads_twice) {
  EXPECT_FALSE(works_in_place_on_both("softmax_grad", false));
  EXPECT_FALSE(works_in_place_on_both("softmax_grad", true));
}

TEST(order, never_makes_the_live_peak_larger) {
  for (const int64_t batch : {1, 8, 64}) {
    const ir::Graph graph = step_graph(batch);
    EXPECT_LE(live_peak_bytes(order_nodes(graph)), live_peak_bytes(graph));
  }
}

TEST(order, keeps_the_graph_valid) { EXPECT_NO_THROW(ir::verify(order_nodes(step_graph(4)))); }

// Parameters are updated only after the loss, so that a step whose loss is not finite can stop
// first.
TEST(order, updates_parameters_after_the_loss) {
  const ir::Graph graph = order_nodes(step_graph(4));
  bool loss_known = false;
  int updates = 0;
  for (const ir::Node& node : graph.nodes) {
    for (int id : node.outputs) loss_known = loss_known || id == *graph.loss;
    for (const ir::Alias& update : node.op->memory.updates) {
      const int id = node.input(update.in);
      if (id < 0 || graph.data(id).role != ir::Role::parameter) continue;
      ++updates;
      EXPECT_TRUE(loss_known) << *graph.data(id).name;
    }
  }
  EXPECT_EQ(updates, 6);
}

TEST(plan, prints_the_peak_and_its_parts) {
  const exec::Program program(step_graph(8), {});
  const std::string text = program.plan().text();
  for (const char* const part : {"planned peak", "parameters", "arena", "lower bound", "peak at"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace thimble::plan::arena_test

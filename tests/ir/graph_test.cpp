#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/graph.h>
#include <thimble/ops.h>

#include <functional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::graph_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(graph, prints_the_open_batch_as_n) {
  Graph g;
  const Value x = g.input("image", {28, 28, 1});
  EXPECT_EQ(to_string(relu(x).shape()), "[N, 28, 28, 1]");
}

TEST(graph, fixes_the_batch_when_asked) {
  Graph g;
  const Value y = relu(g.input("image", {28, 28, 1}));
  const ir::Graph fixed = ir::with_batch(g.ir(), 32);
  EXPECT_EQ(fixed.type(y.id()).shape, (Shape{32, 28, 28, 1}));
  EXPECT_NO_THROW(ir::verify(fixed));
}

TEST(graph, says_what_a_planner_made_of_a_value) {
  Graph g;
  const Value y = relu(g.input("image", {4}));
  ir::Graph graph = g.ir();
  ir::ValueData& data = graph.values[static_cast<size_t>(y.id())];
  EXPECT_EQ(ir::label(data), y.name());
  data.storage = ir::Storage::bits16;
  data.recomputed = true;
  data.fetched = true;
  EXPECT_EQ(ir::label(data), y.name() + " (16 bits) (recomputed) (fetched)");
  EXPECT_THAT(ir::text(graph), HasSubstr("f32[N, 4] 16 bits recomputed fetched = relu("));
  EXPECT_EQ(data.name, y.name());
}

TEST(graph, knows_who_computes_and_who_reads_a_value) {
  Graph g;
  const Value x = g.input("x", {4});
  const Value y = relu(x);
  const Value z = add(y, y);
  g.output("z", square(z));
  g.output("also z", z);
  const ir::Graph& graph = g.ir();
  EXPECT_EQ(graph.producer_of(x.id()), nullptr);
  EXPECT_EQ(graph.producer_of(-1), nullptr);
  EXPECT_EQ(graph.producer_of(y.id()), graph.nodes.data());
  EXPECT_EQ(graph.producer_of(y.id(), *ir::find_op("relu")), graph.nodes.data());
  EXPECT_EQ(graph.producer_of(y.id(), *ir::find_op("add")), nullptr);
  const int result = graph.nodes[2].outputs[0];
  const auto at = [](const auto& list, int id) { return int{list[static_cast<size_t>(id)]}; };
  const std::vector<int> counts = graph.read_counts();
  EXPECT_EQ(at(counts, x.id()), 1);
  EXPECT_EQ(at(counts, y.id()), 2);  // by one node
  EXPECT_EQ(at(counts, z.id()), 1);
  EXPECT_EQ(at(counts, result), 0);
  const std::vector<char> once = graph.read_once();
  EXPECT_EQ(at(once, x.id()), 1);
  EXPECT_EQ(at(once, y.id()), 0);
  EXPECT_EQ(at(once, z.id()), 0);  // a result
  EXPECT_EQ(at(once, result), 0);
}

TEST(graph, refuses_a_name_twice) {
  Graph g;
  g.input("image", {4});
  EXPECT_THROW(g.label("image"), Error);
}

TEST(graph, refuses_an_output_or_a_metric_of_a_taken_name) {
  Graph g;
  const Value score = mean(g.input("x", {2}));
  g.output("score", score);
  g.metric("score", score);  // a metric may be called as an output is
  EXPECT_THAT([&] { g.output("score", score); },
              ThrowsMessage<Error>(HasSubstr("[output] the name score is taken")));
  EXPECT_THAT([&] { g.metric("score", score); },
              ThrowsMessage<Error>(HasSubstr("[metric] the name score is taken")));
}

TEST(graph, refuses_a_metric_that_is_not_one_f32_number) {
  Graph g;
  const Value x = g.input("x", {2}, DType::i32);
  const Value count = sum(x);
  EXPECT_THAT(
      [&] { g.metric("count", count); },
      ThrowsMessage<Error>(AllOf(HasSubstr("[metric] count must be one f32 number, got i32"),
                                 HasSubstr("cast(x, DType::f32)"))));
  EXPECT_THAT([&] { g.metric("rows", cast(x, DType::f32)); },
              ThrowsMessage<Error>(HasSubstr("rows must be one f32 number, got f32[N, 2]")));
  EXPECT_NO_THROW(g.metric("count", cast(count, DType::f32)));
  EXPECT_EQ(g.ir().metrics.size(), 1U);
}

TEST(graph, refuses_attributes_that_files_cannot_hold) {
  Graph g;
  const Value x = g.input("x", {4, 4});
  // Along the open batch a shift cannot be shortened.
  EXPECT_THAT([&] { roll(x, int64_t{1} << 31, 0); },
              ThrowsMessage<Error>(AllOf(HasSubstr("[roll] shifts is 2147483648"),
                                         HasSubstr("from -2147483647 to 2147483647"))));
  EXPECT_NO_THROW(roll(x, (int64_t{1} << 31) - 1, 0));
}

TEST(graph, holds_numbers_beyond_an_axis_as_attributes_that_files_can_hold) {
  Graph g;
  const Value x = g.input("x", {4, 4});
  constexpr int64_t kFar = int64_t{1} << 40;
  EXPECT_EQ(slice(x, 1, -kFar, kFar).shape(), x.shape());
  EXPECT_EQ(slice(x, 1, kFar, INT64_MAX - 1).shape()[1], 0);
  EXPECT_EQ(slice(x, 1, 1, 4, kFar).shape()[1], 1);
  EXPECT_EQ(slice(x, 1, kFar, -kFar, -kFar).shape()[1], 1);
  roll(x, kFar, 1);
  tril(x, {.diagonal = kFar});
  triu(x, {.diagonal = -kFar});
  for (const ir::Node& node : g.ir().nodes) EXPECT_EQ(ir::range_error(node.attrs), "");
}

TEST(graph, refuses_values_of_another_graph) {
  Graph g;
  Graph other;
  EXPECT_THROW(g.output("y", relu(other.input("x", {4}))), Error);
}

TEST(graph, refuses_a_loss_that_is_no_scalar) {
  Graph g;
  EXPECT_THROW(g.minimize(relu(g.input("x", {4}))), Error);
}

// Layers get inputs whose last dimension is the batch.
TEST(graph, refuses_parameters_and_states_that_depend_on_the_batch) {
  const std::function<void(Value)> layers[] = {
      [](Value x) { dense(x, {.units = 2}); },
      [](Value x) { layer_norm(x, {.dims = 3}); },
      [](Value x) { rms_norm(x, {.dims = 3}); },
      [](Value x) { batch_norm(x); },
      [](Value x) { batch_norm(x, {.affine = false}); },
      [](Value x) { group_norm(x, {.groups = 1}); },
      [](Value x) { conv1d(x, {.channels = 2, .kernel = 3}); },
      [](Value x) { depthwise_conv1d(x, {.kernel = 3}); },
      [](Value x) { lstm(x, {.units = 2}); },
      [](Value x) { multi_head_attention(x, {.heads = 1}); },
      [](Value x) {
        dense(reshape(x, {5, -1}), {.units = 2});
      },
  };
  int i = 0;
  for (const auto& layer : layers) {
    Graph g;
    const Value x = transpose(g.input("x", {5, 6}), {1, 2, 0});
    EXPECT_THAT([&] { layer(x); }, ThrowsMessage<Error>(HasSubstr("cannot depend on the batch")))
        << i++;
  }
  Graph g;
  const Value x = transpose(g.input("x", {5, 6}), {1, 2, 0});
  EXPECT_THAT([&] { dense(x, {.units = 2, .name = "head"}); },
              ThrowsMessage<Error>(AllOf(HasSubstr("[head.weight] a parameter"), HasSubstr("N]"),
                                         HasSubstr("transpose"))));
}

TEST(graph, refuses_real_sizes_that_stand_for_the_batch) {
  const auto refuses = [](const std::function<void(Graph&)>& build, const char* what) {
    Graph g;
    EXPECT_THAT([&] { build(g); }, ThrowsMessage<Error>(HasSubstr(what)));
  };
  refuses(
      [](Graph& g) {
        g.parameter("w", {1000003, 4}, init::zeros());
      },
      "[w] a parameter cannot");
  refuses(
      [](Graph& g) {
        g.parameter("w", {4, 2000006}, init::zeros());
      },
      "[w] a parameter cannot");
  refuses([](Graph& g) { g.constant("c", {1000003}, std::vector<float>(1000003)); },
          "[c] a constant cannot");
  refuses([](Graph& g) { g.input("x", {1000003}); }, "[x] has the shape [N, N]");
  refuses([](Graph& g) { g.label("t", {2, 1000003}); }, "[t] has the shape [N, 2, N]");
  refuses(
      [](Graph& g) {
        embedding(g.input("i", {}, DType::i32), {.embeddings = 1000003, .width = 2});
      },
      "cannot depend on the batch");
}

// With a fixed batch, any size is allowed.
TEST(graph, takes_any_size_once_the_batch_is_fixed) {
  ir::Graph g;
  g.source("x", {DType::f32, {32, 4}}, ir::Role::input);
  EXPECT_NO_THROW(g.source("w", {DType::f32, {1000003, 4}}, ir::Role::state));
}

TEST(graph, refuses_tensors_whose_elements_no_kernel_can_count) {
  const auto more_than = ThrowsMessage<Error>(HasSubstr("more than 2147483647 elements"));
  Graph g;
  EXPECT_THAT([&] { g.input("large", {int64_t{1} << 40, int64_t{1} << 40}); }, more_than);
  // The open batch counts as one, but its products must not overflow.
  const Value x = g.input("x", {1 << 24});
  const int64_t batch = x.shape()[0];
  EXPECT_THAT([&] { broadcast_to(x, {batch, batch, 1 << 24}); }, more_than);
  g.output("y", relu(x));
  EXPECT_NO_THROW(static_cast<void>(ir::with_batch(g.ir(), 2)));
  EXPECT_THAT([&] { static_cast<void>(ir::with_batch(g.ir(), 1 << 10)); }, more_than);
  EXPECT_THAT([&] { static_cast<void>(ir::with_batch(g.ir(), int64_t{1} << 44)); },
              ThrowsMessage<Error>(HasSubstr("expected 1 to 2147483647")));
}

TEST(graph, refuses_more_dimensions_than_files_hold) {
  Graph g;
  EXPECT_NO_THROW(g.constant("w", Array(DType::u8, Shape(std::vector<int64_t>(16, 1)))));
  EXPECT_THAT([&] { g.constant("v", Array(DType::u8, Shape(std::vector<int64_t>(17, 1)))); },
              ThrowsMessage<Error>(HasSubstr("has 17 dimensions; at most 16 are possible")));
}

TEST(graph, takes_parameters_beside_a_batch_in_any_place) {
  Graph g;
  const Value x = transpose(g.input("x", {5, 6}), {1, 0, 2});
  EXPECT_EQ(to_string(dense(x, {.units = 2}).shape()), "[5, N, 2]");
}

}  // namespace
}  // namespace thimble::graph_test

#include "passes/passes.h"

#include <gmock/gmock.h>
#include <thimble/ops.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "autodiff/autodiff.h"
#include "ir/graph.h"
#include "ir/reference.h"

namespace thimble::passes_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> ops_of(const ir::Graph& graph) {
  std::vector<std::string> names;
  for (const ir::Node& node : graph.nodes) names.emplace_back(node.op->name);
  return names;
}

Value find(const ir::Graph& graph, const std::string& name) {
  return const_cast<ir::Graph&>(graph).find_source(name);
}

TEST(dead_code, keeps_nodes_that_results_and_updates_need) {
  Graph g;
  const Value x = g.input("x", {4});
  const Value unread = g.input("unread", {4});
  static_cast<void>(exp(unread) + x);
  g.output("y", relu(x));
  const ir::Graph lean = passes::remove_dead_code(g.ir());
  EXPECT_THAT(ops_of(lean), ElementsAre("relu"));
  EXPECT_FALSE(find(lean, "unread"));
  EXPECT_TRUE(find(lean, "x"));
}

TEST(dead_code, keeps_updates_of_state) {
  Graph g;
  const Value x = g.input("x", {2, 2, 3});
  const Value y = batch_norm(x, {.name = "norm"});
  static_cast<void>(y);
  const ir::Graph training = passes::specialize(ir::with_batch(g.ir(), 4), ir::Phase::training);
  const ir::Graph lean = passes::remove_dead_code(training);
  EXPECT_THAT(ops_of(lean), testing::Contains("batch_norm_update"));
  EXPECT_TRUE(find(lean, "norm.running_mean"));
}

TEST(constant_folding, computes_small_nodes_of_constants_alone) {
  Graph g;
  const Value a = g.constant("a", {3}, {1.0F, 2.0F, 4.0F});
  const Value b = g.constant("b", {3}, {10.0F, 20.0F, 40.0F});
  const Value x = g.input("x", {3});
  g.output("y", x + a * b);
  const ir::Graph folded = passes::optimize(g.ir());
  ASSERT_THAT(ops_of(folded), ElementsAre("add"));
  const ir::ValueData& sum = folded.data(folded.nodes[0].input(1));
  EXPECT_EQ(sum.role, ir::Role::constant);
  EXPECT_THAT(sum.data->as<float>(), ElementsAre(10.0F, 40.0F, 160.0F));
}

TEST(constant_folding, leaves_what_would_cost_memory) {
  Graph g;
  const Value a = g.constant("a", {1}, {1.0F});
  g.output("y", broadcast_to(a, {1000}));
  EXPECT_THAT(ops_of(passes::fold_constants(g.ir())), ElementsAre("broadcast_to"));
}

// Otherwise programs for small batches would have more constants than programs for large ones.
TEST(constant_folding, is_the_same_for_every_batch) {
  for (const Shape& shape : {Shape{3}, Shape{1, 3}}) {
    Graph g;
    const Value x = g.input("x", {3});
    const Value scale = broadcast_to(g.constant("scale", shape, {1.0F, 2.0F, 4.0F}), {kBatch, 3});
    g.output("y", x * exp(scale) + x * tanh(scale));
    EXPECT_EQ(ops_of(passes::optimize(ir::with_batch(g.ir(), 1))),
              ops_of(passes::optimize(ir::with_batch(g.ir(), 100))));
  }
}

TEST(epilogue_fusion, lets_the_matrix_op_apply_the_activation) {
  Graph g;
  const Value x = g.input("x", {4});
  g.output("y", relu(dense(x, {.units = 2, .name = "d"})));
  const ir::Graph fused = passes::fuse_epilogues(g.ir());
  EXPECT_THAT(ops_of(fused), ElementsAre("matmul"));
  EXPECT_NE(ir::text(fused).find("relu"), std::string::npos) << ir::text(fused);
}

TEST(epilogue_fusion, lets_batch_norm_apply_relu6) {
  Graph g;
  g.output("y", relu6(batch_norm(g.input("x", {4, 4, 3}), {.name = "n"})));
  const ir::Graph fused = passes::fuse_epilogues(g.ir());
  EXPECT_THAT(ops_of(fused), ElementsAre("batch_norm", "batch_norm_update"));
  EXPECT_NE(ir::text(fused).find("relu6"), std::string::npos) << ir::text(fused);
}

TEST(epilogue_fusion, keeps_an_activation_whose_input_is_read_elsewhere) {
  Graph g;
  const Value d = dense(g.input("x", {4}), {.units = 2, .name = "d"});
  g.output("y", relu(d));
  g.output("before", d);
  EXPECT_THAT(ops_of(passes::fuse_epilogues(g.ir())), ElementsAre("matmul", "relu"));
}

TEST(specialize, gives_each_phase_its_form) {
  Graph g;
  const Value x = g.input("x", {4});
  g.output("y", dropout(x, {.p = 0.5}));
  const ir::Graph fixed = ir::with_batch(g.ir(), 2);
  EXPECT_THAT(ops_of(passes::specialize(fixed, ir::Phase::inference)), IsEmpty());
  EXPECT_THAT(ops_of(passes::specialize(fixed, ir::Phase::training)), testing::Contains("dropout"));
}

// 8 samples of 5 indices into a table of `rows`, times a matrix.
ir::Graph small_embedding(int64_t rows, int64_t padding = -1) {
  Graph g;
  const Value i = g.input("i", {5}, DType::i32);
  const Value x =
      embedding(i, {.embeddings = rows, .width = 3, .padding_idx = padding, .name = "table"});
  g.output("y", dense(x, {.units = 2, .name = "d"}));
  return ir::with_batch(g.ir(), 8);
}

TEST(gather_late, multiplies_the_table_where_it_has_fewer_rows) {
  const ir::Graph late = passes::gather_late(small_embedding(39));
  EXPECT_THAT(ops_of(late), ElementsAre("matmul", "embedding"));
  EXPECT_EQ(late.type(late.nodes[0].outputs[0]).shape, (Shape{39, 2}));
  EXPECT_NO_THROW(ir::verify(late));
  EXPECT_EQ(late.layers[static_cast<size_t>(late.nodes[1].layer)].name, "d");
  EXPECT_THAT(ops_of(passes::gather_late(small_embedding(40))), ElementsAre("embedding", "matmul"));
}

TEST(gather_late, moves_a_cast_of_the_rows_behind_the_product) {
  for (const DType dtype : {DType::bf16, DType::f16}) {
    Graph g;
    const Value x =
        embedding(g.input("i", {5}, DType::i32), {.embeddings = 4, .width = 3, .name = "table"});
    g.output("y", dense(cast(x, dtype), {.units = 2, .name = "d"}));
    const ir::Graph late = passes::gather_late(ir::with_batch(g.ir(), 8));
    EXPECT_THAT(ops_of(late), ElementsAre("matmul", "cast", "embedding"));
    EXPECT_EQ(late.type(late.nodes[0].outputs[0]), (ir::TensorType{DType::f32, {4, 2}}));
    EXPECT_EQ(late.type(late.nodes[2].outputs[0]), (ir::TensorType{dtype, {8, 5, 2}}));
    EXPECT_NO_THROW(ir::verify(late));
  }
}

TEST(gather_late, leaves_a_row_that_is_not_trained) {
  EXPECT_THAT(ops_of(passes::gather_late(small_embedding(4, 1))),
              ElementsAre("embedding", "matmul"));
}

TEST(gather_late, leaves_rows_that_other_nodes_read) {
  for (const bool as_output : {true, false}) {
    Graph g;
    const Value x =
        embedding(g.input("i", {5}, DType::i32), {.embeddings = 4, .width = 3, .name = "table"});
    g.output("y", dense(x, {.units = 2}));
    if (as_output) {
      g.output("x", x);
    } else {
      g.output("z", exp(x));
    }
    EXPECT_EQ(ops_of(passes::gather_late(ir::with_batch(g.ir(), 8)))[0], "embedding");
  }
}

TEST(gather_late, leaves_rows_that_one_product_reads_twice) {
  Graph g;
  const Value x =
      embedding(g.input("i", {}, DType::i32), {.embeddings = 4, .width = 3, .name = "table"});
  g.output("y", matmul(x, x, {.transpose_b = true}));
  EXPECT_THAT(ops_of(passes::gather_late(ir::with_batch(g.ir(), 8))),
              ElementsAre("embedding", "matmul"));
}

TEST(gather_late, leaves_products_that_mix_rows) {
  Graph g;
  const Value x =
      embedding(g.input("i", {5}, DType::i32), {.embeddings = 4, .width = 5, .name = "table"});
  const Value w = g.parameter("w", {5, 5}, init::normal(0.0, 1.0));
  g.output("y", matmul(x, w, {.transpose_a = true}));
  const Value v =
      embedding(g.input("j", {5}, DType::i32), {.embeddings = 4, .width = 5, .name = "other"});
  g.output("z", matmul(w, v));
  EXPECT_THAT(ops_of(passes::gather_late(ir::with_batch(g.ir(), 8))),
              ElementsAre("embedding", "matmul", "embedding", "matmul"));
}

TEST(gather_late, keeps_the_values) {
  const ir::Graph before = small_embedding(4);
  const ir::Graph after = passes::gather_late(before);
  const auto run = [](const ir::Graph& graph) {
    std::map<int, ir::Bytes> sources;
    for (size_t id = 0; id < graph.values.size(); ++id) {
      const ir::ValueData& data = graph.values[id];
      if (data.producer >= 0) continue;
      const auto count = static_cast<size_t>(data.type.shape.elements());
      ir::Bytes bytes;
      if (data.type.dtype == DType::i32) {
        for (size_t i = 0; i < count; ++i) {
          const auto index = static_cast<int32_t>(i * 7 % 4);
          const auto* raw = reinterpret_cast<const std::byte*>(&index);
          bytes.insert(bytes.end(), raw, raw + sizeof(index));
        }
      } else {
        std::vector<float> values;
        for (size_t i = 0; i < count; ++i) {
          values.push_back(std::sin(static_cast<float>(i + data.name->size())));
        }
        bytes = ir::to_bytes(values, ir::Precision::f64);
      }
      sources[static_cast<int>(id)] = bytes;
    }
    const auto values = ir::run_reference(graph, sources, ir::Precision::f64);
    return ir::to_doubles(values[static_cast<size_t>(graph.outputs[0].second)], ir::Precision::f64);
  };
  const std::vector<double> wanted = run(before);
  EXPECT_EQ(wanted.size(), 80U);
  EXPECT_THAT(run(after), testing::Pointwise(testing::DoubleNear(1e-12), wanted));
}

// Loss and gradients of dense(activation(dense(x))).
TEST(passes, keep_names_types_and_validity) {
  Graph g;
  const Value x = g.input("x", {4});
  g.output("y", relu(dense(dropout(x, {.p = 0.1}), {.units = 2, .name = "d"})));
  for (const ir::Phase phase : {ir::Phase::training, ir::Phase::inference}) {
    const ir::Graph done = passes::optimize(passes::specialize(ir::with_batch(g.ir(), 3), phase));
    EXPECT_NO_THROW(ir::verify(done));
    ASSERT_EQ(done.outputs.size(), 1U);
    EXPECT_EQ(done.outputs[0].first, "y");
    EXPECT_EQ(done.type(done.outputs[0].second).shape, (Shape{3, 2}));
  }
}

}  // namespace
}  // namespace thimble::passes_test

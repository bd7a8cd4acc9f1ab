// 16-bit tensors that are widened a few rows at a time: the bits of the f32 kernel, rounded once.
#include "ir/widened.h"

#include <gtest/gtest.h>
#include <thimble/array.h>
#include <thimble/ops.h>

#include <cmath>
#include <random>

#include "exec/memory.h"
#include "ir/graph.h"
#include "ops/families/widen/widen_cases.h"
#include "parallel/thread_pool.h"
#include "plan/arena.h"

namespace thimble::widened_test {
namespace {

// Values of one graph, in f32 or a 16-bit type.
struct Result {
  std::vector<Array> outputs;
  int64_t workspace = 0;
  int64_t blocks = 1;
};

Array random_array(const Shape& shape, std::mt19937& random) {
  // Values of channels may be variances.
  std::uniform_real_distribution<float> uniform(shape.rank() == 1 ? 0.25F : -1.0F, 1.0F);
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (float& v : values) v = uniform(random);
  return Array(values, shape);
}

// Runs the last op that `build` adds, on random inputs; those from `narrow` on stay f32, as weights
// do. The numbers are rounded to bf16 in either case.
template <class Build>
Result run(const std::vector<Shape>& shapes, size_t narrow, DType dtype, const Build& build) {
  std::mt19937 random(7);
  ir::Graph graph;
  std::vector<Value> values;
  std::vector<Array> contents;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const DType own = i < narrow ? dtype : DType::f32;
    values.push_back(graph.source("x" + std::to_string(i), {own, shapes[i]}, ir::Role::input));
    contents.push_back(random_array(shapes[i], random).cast(DType::bf16).cast(own));
  }
  build(graph, values);
  const ir::Node& node = graph.nodes.back();
  const ir::ChosenKernels kernels = ir::kernels_of(graph, node);
  const ir::Params params = plan::kernel_params(graph, node);
  parallel::ThreadPool pool(2);
  Result made;
  made.workspace = kernels.workspace(params, 2, true);
  if (kernels.widens) made.blocks = params.as<ir::WidenedHeader>().blocks();
  std::vector<const void*> inputs(std::max<size_t>(node.inputs.size(), 8), nullptr);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] < 0) continue;
    inputs[i] = contents[static_cast<size_t>(node.inputs[i])].bytes().data();
  }
  std::vector<std::vector<std::byte>> bytes;
  std::vector<void*> outputs;
  for (const int id : node.outputs) {
    const ir::TensorType& type = graph.type(id);
    bytes.emplace_back(static_cast<size_t>(size_bytes(type.dtype, type.shape)), std::byte{0xAA});
    outputs.push_back(bytes.back().data());
  }
  const exec::Block workspace(made.workspace);
  kernels.kernel(true)({outputs.data(), inputs.data(), workspace.data(), params.bytes().data(),
                        static_cast<int>(node.inputs.size()), static_cast<int>(node.outputs.size()),
                        &pool});
  for (size_t i = 0; i < bytes.size(); ++i) {
    const ir::TensorType& type = graph.type(node.outputs[i]);
    made.outputs.push_back(Array::of_bytes(type.dtype, type.shape, bytes[i]));
  }
  return made;
}

// Numbers near 1 of a 16-bit type, relative to the largest.
double spacing(DType dtype) { return dtype == DType::bf16 ? 0x1p-7 : 0x1p-10; }

void expect_equal(const test::WidenCase& test, const Result& got, const Result& wanted,
                  DType dtype) {
  ASSERT_EQ(got.outputs.size(), wanted.outputs.size());
  for (size_t i = 0; i < got.outputs.size(); ++i) {
    const Array& mine = got.outputs[i];
    const bool is_sum = std::find(test.sums.begin(), test.sums.end(), i) != test.sums.end();
    const std::vector<double> a = mine.cast(DType::f64).template as<double>();
    const std::vector<double> b =
        wanted.outputs[i].cast(mine.dtype()).cast(DType::f64).template as<double>();
    ASSERT_EQ(a.size(), b.size());
    double largest = 0.0;
    double apart = 0.0;
    for (size_t k = 0; k < a.size(); ++k) {
      if (std::isinf(b[k]) && a[k] == b[k]) continue;
      largest = std::max(largest, std::abs(b[k]));
      apart = std::isnan(a[k] - b[k]) ? INFINITY : std::max(apart, std::abs(a[k] - b[k]));
    }
    EXPECT_LE(apart, is_sum ? spacing(dtype) * largest : 0.0)
        << test.name << " " << to_string(dtype) << " output " << i;
  }
}

TEST(widened, gives_in_blocks_of_rows_what_the_f32_kernel_gives_rounded_once) {
  for (const test::WidenCase& test : test::widen_cases()) {
    const Result wanted = run(test.shapes, test.narrow, DType::f32, test.build);
    for (const DType dtype : {DType::bf16, DType::f16}) {
      const Result got = run(test.shapes, test.narrow, dtype, test.build);
      EXPECT_GT(got.blocks, 1) << test.name;
      int64_t whole = 0;  // copies of whole tensors
      for (size_t i = 0; i < test.narrow; ++i) whole += 4 * test.shapes[i].elements();
      for (const Array& output : got.outputs) {
        if (output.dtype() == dtype) whole += 4 * output.shape().elements();
      }
      EXPECT_LT(got.workspace - wanted.workspace, whole) << test.name;
      expect_equal(test, got, wanted, dtype);
    }
  }
}

// Kernels that convert what they load and store: the bits of the f32 kernel, rounded once, without
// copies of whole tensors.
TEST(widened, kernels_of_16_bits_keep_no_whole_copies) {
  const auto add = [](const char* name) {
    return [name](ir::Graph& g, const std::vector<Value>& v) {
      const ir::OpDef& op = *ir::find_op(name);
      g.add(op, ir::Attrs::defaults(op.signature.attrs), v);
    };
  };
  struct OwnKernel {
    const char* op;
    std::vector<Shape> shapes;
    size_t narrow;
  };
  const Shape x{16, 31, 30, 48};
  const Shape channels{48};
  const Shape sequence{19, 100, 70};  // 3 tasks
  const Shape gates{19, 100, 280};
  const Shape state{19, 70};
  const std::vector<OwnKernel> kernels = {
      {"batch_norm", {x, channels, channels}, 1},
      {"batch_norm_grad", {x, x, channels, channels, channels}, 2},
      {"batch_norm_inference", {x, channels, channels, channels, channels}, 1},
      {"relu_grad", {x, x}, 2},
      {"relu6_grad", {x, x}, 2},
      {"lstm_scan", {gates, {280, 70}, state, state}, 1},
      {"lstm_scan_grad", {sequence, sequence, gates, sequence, {280, 70}, state, state}, 4},
  };
  for (const OwnKernel& kernel : kernels) {
    const test::WidenCase test{kernel.op, kernel.shapes, kernel.narrow, nullptr, {}};
    const Result wanted = run(test.shapes, test.narrow, DType::f32, add(kernel.op));
    for (const DType dtype : {DType::bf16, DType::f16}) {
      const Result got = run(test.shapes, test.narrow, dtype, add(kernel.op));
      EXPECT_LT(got.workspace - wanted.workspace, int64_t{1} << 18) << kernel.op;
      expect_equal(test, got, wanted, dtype);
    }
  }
}

// The result of a product whose result is large is computed by rows, with the bits of the whole
// one.
TEST(widened, a_large_result_is_computed_by_rows) {
  const auto gradient = [](ir::Graph&, const std::vector<Value>& v) {
    matmul(v[0], v[1], {.transpose_a = true});
  };
  const test::WidenCase test{"weights", {{64, 784}, {64, 500}}, 2, nullptr, {}};
  const Result wanted = run(test.shapes, test.narrow, DType::f32, gradient);
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const Result got = run(test.shapes, test.narrow, dtype, gradient);
    EXPECT_GT(got.blocks, 1);
    EXPECT_LT(got.workspace - wanted.workspace, int64_t{1} << 20);
    expect_equal(test, got, wanted, dtype);
  }
}

TEST(widened, divides_nothing_that_depends_on_other_rows) {
  const auto blocks = [](const std::vector<Shape>& shapes, auto build) {
    return run(shapes, shapes.size(), DType::bf16, build).blocks;
  };
  EXPECT_EQ(blocks({{1000, 301}}, [](auto&, auto& v) { softmax(v[0], {.axis = 0}); }), 1);
  EXPECT_EQ(blocks({{1000, 301}}, [](auto&, auto& v) { softmax(v[0], {.axis = -2}); }), 1);
  EXPECT_EQ(blocks({{1000, 301}}, [](auto&, auto& v) { cumsum(v[0], {.axis = 0}); }), 1);
  EXPECT_EQ(blocks({{2, 3}}, [](auto&, auto& v) { gelu(v[0]); }), 1);
}

}  // namespace
}  // namespace thimble::widened_test

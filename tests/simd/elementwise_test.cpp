// The fast kernel of every elementwise op of one tensor, and of its gradient op, over the whole
// range of floats: against the reference in double precision, on every vector target.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <thimble/ops/pow.h>
#include "harness/op_run.h"
#include "harness/vector_targets.h"
#include "ir/graph.h"
#include "parallel/thread_pool.h"
#include "plan/arena.h"

namespace thimble::test::elementwise_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kSmallest = std::numeric_limits<float>::denorm_min();

// The largest error in units in the last place; bench/RESULTS.md has the error of each op.
constexpr double kUlps = 10.0;
// Products with an exponential that is denormal itself keep few digits.
constexpr double kDenormal = 128.0 * static_cast<double>(kSmallest);
// A derivative is a sum that may cancel near its zeros: of dy = 1.
constexpr double kCancelled = 3e-7;

// Floats at regular steps, of both signs, and values at which formulas have special cases.
std::vector<float> all_kinds_of_floats() {
  constexpr uint64_t kStride = 40961;
  std::vector<float> points{
      0.0F,  1.0F,     6.0F,   20.0F,     88.73F,          89.0F, 100.0F, 103.98F,   104.0F, 1e-20F,
      1e20F, kLargest, 1e-40F, kSmallest, 1.17549435e-38F, 3.0F,  0.5F,   kInfinity, kNan};
  const size_t count = points.size();
  for (size_t i = 0; i < count; ++i) points.push_back(-points[i]);
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += kStride) {
    points.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  return points;
}

// The unit in the last place of a number.
double ulp_of(double v) {
  return std::ldexp(1.0, (v == 0.0 ? -126 : std::max(std::ilogb(v), -126)) - 23);
}

// Whether got is close enough to want, which is exact. Zeros have the right sign but in
// derivatives.
bool accept(float got, double want, double ulps, double slack) {
  if (std::isnan(want)) return std::isnan(got);
  const auto rounded = static_cast<float>(want);
  if (got == rounded) {
    return got != 0.0F || slack >= kCancelled || std::signbit(got) == std::signbit(rounded);
  }
  // Close to the largest float, rounding decides whether the result is infinite.
  constexpr double kLimit = static_cast<double>(kLargest);
  if (std::isinf(got)) return std::signbit(got) == (want < 0) && std::abs(want) > 0.999999 * kLimit;
  if (std::abs(want) > 1.000001 * kLimit) return false;
  return std::abs(static_cast<double>(got) - want) <= ulps * ulp_of(want) + slack;
}

struct Errors {
  std::string first_fault;  // the first point that is too far off
  double worst_ulps = 0.0;  // of results that are not nearly denormal
};

// The errors of the fast kernel. The op has its default attributes; dy = 1 in a gradient op.
Errors errors_of(const ir::OpDef& op, const std::vector<float>& points) {
  ir::Graph graph;
  std::vector<Value> inputs;
  for (const ir::ArgDoc& input : op.signature.inputs) {
    inputs.push_back(graph.source(input.name, {DType::f32, {static_cast<int64_t>(points.size())}},
                                  ir::Role::input));
  }
  graph.add(op, {}, inputs);
  const ir::Params params = plan::kernel_params(graph, graph.nodes.back());
  parallel::ThreadPool pool(1);
  const bool is_grad = inputs.size() == 2;
  const auto call = [&](ir::KernelFn kernel, void* y, const void* x, const void* ones) {
    const void* sources[] = {is_grad ? ones : x, x};
    kernel(
        {&y, sources, nullptr, params.bytes().data(), static_cast<int>(inputs.size()), 1, &pool});
  };
  const std::vector<float> ones(points.size(), 1.0F);
  std::vector<float> got(points.size());
  call(op.kernels.fast, got.data(), points.data(), ones.data());
  const std::vector<double> x(points.begin(), points.end());
  const std::vector<double> double_ones(points.size(), 1.0);
  std::vector<double> want(points.size());
  call(op.kernels.ref64, want.data(), x.data(), double_ones.data());
  Errors errors;
  for (size_t i = 0; i < points.size(); ++i) {
    if (!accept(got[i], want[i], kUlps, is_grad ? kCancelled : kDenormal)) {
      errors.first_fault =
          fmt::format("{}({}) is {}, should be {}", op.name, points[i], got[i], want[i]);
      return errors;
    }
    if (std::isfinite(got[i]) && std::isfinite(want[i]) && std::abs(want[i]) > 1e-36) {
      const double ulps = std::abs(static_cast<double>(got[i]) - want[i]) / ulp_of(want[i]);
      errors.worst_ulps = std::max(errors.worst_ulps, ulps);
    }
  }
  return errors;
}

// Ops of whole numbers refuse floats; logical ops give bits.
bool is_of_floats(const ir::OpDef& op) {
  ir::Graph graph;
  try {
    const Value x = graph.source("x", {DType::f32, {1}}, ir::Role::input);
    return graph.add(op, {}, std::vector<Value>{x})[0].dtype() == DType::f32;
  } catch (const Error&) {
    return false;
  }
}

// An op of one tensor of floats, or the gradient op of one.
bool takes_one_tensor(const ir::OpDef& op) {
  if (!op.flow.elementwise || op.kernels.fast == nullptr || op.kernels.ref64 == nullptr)
    return false;
  if (op.signature.inputs.size() == 1) return is_of_floats(op);
  std::string_view name = op.name;
  if (op.signature.inputs.size() != 2 || !name.ends_with("_grad")) return false;
  name.remove_suffix(std::string_view("_grad").size());
  const ir::OpDef* forward = ir::find_op(name);
  return forward != nullptr && forward->signature.inputs.size() == 1;
}

TEST(elementwise, every_op_is_right_for_every_float) {
  const std::vector<float> points = all_kinds_of_floats();
  int ops = 0;
  for (const ir::OpDef* op : ir::all_ops()) {
    if (!takes_one_tensor(*op)) continue;
    ++ops;
    for_each_target([&](const std::string& target) {
      EXPECT_EQ(errors_of(*op, points).first_fault, "") << target;
    });
    // The figures of bench/RESULTS.md, in the report of --gtest_output=json:FILE.
    RecordProperty(op->name, fmt::format("{:.2f}", errors_of(*op, points).worst_ulps));
  }
  EXPECT_GE(ops, 40);
}

// Then the input need not be kept, and the op may overwrite it.
TEST(elementwise, gradients_read_the_output_where_the_output_tells_enough) {
  for (const char* op : {"elu", "exp", "leaky_relu", "reciprocal", "relu", "relu6", "rsqrt", "selu",
                         "sigmoid", "sqrt", "tanh"}) {
    const ir::OpDef* grad = ir::find_op(std::string(op) + "_grad");
    ASSERT_NE(grad, nullptr) << op;
    EXPECT_STREQ(grad->signature.inputs[1].name, "y") << op;
  }
}

TEST(elementwise, wrong_results_are_caught) {
  EXPECT_TRUE(accept(1.0F, 1.0, kUlps, 0.0));
  EXPECT_TRUE(accept(1.000001F, 1.0, kUlps, 0.0));
  EXPECT_FALSE(accept(1.000002F, 1.0, kUlps, 0.0));
  EXPECT_FALSE(accept(0.0F, 1e-30, kUlps, kDenormal));
  EXPECT_FALSE(accept(-kLargest, 3.4e38, kUlps, 0.0));
  EXPECT_FALSE(accept(-0.0F, 0.0, kUlps, 0.0));
  EXPECT_FALSE(accept(kInfinity, 1e38, kUlps, 0.0));
  EXPECT_FALSE(accept(kLargest, std::numeric_limits<double>::infinity(), kUlps, 0.0));
  EXPECT_FALSE(accept(kNan, 1.0, kUlps, 0.0));
  EXPECT_FALSE(accept(1.0F, std::numeric_limits<double>::quiet_NaN(), kUlps, 0.0));
}

// x^exponent at all points on the vector target in use, against the C library in double precision.
void check_pow(const std::vector<float>& points, float exponent) {
  const auto n = static_cast<int64_t>(points.size());
  const auto got = values_of<float>(run_op("pow", ir::Attrs::of(PowAttrs{.exponent = exponent}),
                                           {tensor({n}, points)}, Kernel::fast)[0]);
  for (size_t i = 0; i < points.size(); ++i) {
    const double want = std::pow(static_cast<double>(points[i]), static_cast<double>(exponent));
    ASSERT_TRUE(accept(got[i], want, 2.0, 0.0))
        << points[i] << "^" << exponent << " is " << got[i] << ", should be " << want;
  }
}

// C99, annex F.9.4.4.
TEST(pow, has_the_special_values_of_c99) {
  std::vector<float> points{0.0F,   0.5F,  1.0F,     1.5F,      2.0F, 3.0F,
                            1e-40F, 1e30F, kLargest, kInfinity, kNan};
  const size_t count = points.size();
  for (size_t i = 0; i < count; ++i) points.push_back(-points[i]);
  for_each_target([&](const std::string& target) {
    SCOPED_TRACE(target);
    for (const float exponent : points) check_pow(points, exponent);
  });
}

TEST(pow, is_right_for_every_float) {
  const std::vector<float> points = all_kinds_of_floats();
  for_each_target([&](const std::string& target) {
    SCOPED_TRACE(target);
    for (const float exponent : {1e-3F, 0.5F, 1.7F, -2.0F, -0.33F, 7.0F, 40.5F, -1000.0F}) {
      check_pow(points, exponent);
    }
  });
}

// Every kept number, among them -0, denormals, infinities and NaN, at every place of a vector.
TEST(elementwise, gradients_of_relu_in_16_bits_choose_by_every_kept_number) {
  constexpr int64_t kCount = 65536 + 7;
  std::vector<uint16_t> kept(kCount);
  std::vector<uint16_t> dy(kCount);
  for (size_t i = 0; i < kept.size(); ++i) {
    kept[i] = static_cast<uint16_t>(i);
    dy[i] = static_cast<uint16_t>(0x3c00 + i % 1000);  // finite in either type
  }
  for (const char* const op : {"relu_grad", "relu6_grad"}) {
    for (const DType dtype : {DType::f16, DType::bf16}) {
      const std::vector<Tensor> inputs{tensor(dtype, {kCount}, dy), tensor(dtype, {kCount}, kept)};
      const auto wanted = run_op(op, {}, inputs, Kernel::reference);
      for_each_target([&](const std::string& target) {
        EXPECT_EQ(run_op(op, {}, inputs, Kernel::fast), wanted) << op << " " << target;
      });
    }
  }
}

}  // namespace
}  // namespace thimble::test::elementwise_test

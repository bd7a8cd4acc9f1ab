#include <gtest/gtest.h>

#include "ops/families/conv/conv_kernel_dims.h"
#include "ops/families/conv/conv_kernels.h"
#include "simd/conv.h"
#include "simd/conv_cases.h"
#include "simd/kernel_testing.h"
#include "simd/winograd_weights.h"

namespace f64 {
using real = double;
#include "ops/conv2d/ref.h"
#include "ops/conv2d_input_grad/ref.h"
#include "ops/conv2d_weight_grad/ref.h"
#include "ops/conv_transpose2d/ref.h"
}  // namespace f64

namespace thimble::testing::conv_test {
namespace {

int64_t input_size(const conv_dims& d) { return int64_t{d.n} * d.h * d.w * d.c; }
int64_t output_size(const conv_dims& d) { return int64_t{d.n} * d.p * d.q * d.k; }
int64_t weight_size(const conv_dims& d) { return int64_t{d.k} * d.r * d.s * (d.c / d.groups); }

Guarded random(int64_t count, uint32_t seed) {
  Guarded values(count);
  fill_random(values, seed);
  return values;
}

// Runs a kernel on a guarded copy of `before` and a guarded workspace.
template <class Kernel>
Guarded guarded_run(const Guarded& before, int64_t workspace_bytes, int threads, Kernel kernel) {
  parallel::ThreadPool pool(threads);
  Guarded result = before;
  Guarded workspace = make_workspace(workspace_bytes);
  kernel(result.data(), workspace.data(), pool);
  EXPECT_TRUE(result.intact()) << "wrote outside the result";
  EXPECT_TRUE(workspace.intact()) << "wrote outside the workspace";
  return result;
}

// One convolution with all its operands, the four kernels and their references.
struct Operands {
  explicit Operands(const conv_dims& dims)
      : d(dims),
        x(random(input_size(d), 1)),
        y(random(output_size(d), 2)),
        w(random(weight_size(d), 3)),
        input_bias(random(d.c, 4)),
        output_bias(random(d.k, 5)) {}

  [[nodiscard]] bool with_bias() const { return d.activation != 0; }
  [[nodiscard]] const float* bias(const Guarded& b) const {
    return with_bias() ? b.data() : nullptr;
  }

  [[nodiscard]] Guarded forward(int threads) const {
    return guarded_run(y, ops::conv2d_impl::conv2d_workspace_bytes(d, threads), threads,
                       [&](float* out, void* workspace, parallel::ThreadPool& pool) {
                         ops::conv2d_impl::conv2d_simd(out, x.data(), w.data(), bias(output_bias),
                                                       workspace, &d, pool);
                       });
  }
  [[nodiscard]] Guarded input_grad(int threads) const {
    return guarded_run(x,
                       ops::conv2d_input_grad_impl::conv2d_input_grad_workspace_bytes(d, threads),
                       threads, [&](float* out, void* workspace, parallel::ThreadPool& pool) {
                         ops::conv2d_input_grad_impl::conv2d_input_grad_simd(
                             out, y.data(), w.data(), bias(input_bias), workspace, &d, pool);
                       });
  }
  [[nodiscard]] Guarded weight_grad(int threads) const {
    return guarded_run(w,
                       ops::conv2d_weight_grad_impl::conv2d_weight_grad_workspace_bytes(d, threads),
                       threads, [&](float* out, void* workspace, parallel::ThreadPool& pool) {
                         ops::conv2d_weight_grad_impl::conv2d_weight_grad_simd(
                             out, x.data(), y.data(), workspace, &d, pool);
                       });
  }

  [[nodiscard]] std::vector<double> forward_reference() const {
    std::vector<double> out = widened(y);
    const auto b = widened(output_bias);
    f64::conv2d_ref(out.data(), widened(x).data(), widened(w).data(),
                    with_bias() ? b.data() : nullptr, &d);
    return out;
  }
  [[nodiscard]] std::vector<double> input_grad_reference() const {
    std::vector<double> out = widened(x);
    const auto b = widened(input_bias);
    f64::conv2d_input_grad_ref(out.data(), widened(y).data(), widened(w).data(),
                               with_bias() ? b.data() : nullptr, &d);
    return out;
  }
  [[nodiscard]] std::vector<double> weight_grad_reference() const {
    std::vector<double> out = widened(w);
    f64::conv2d_weight_grad_ref(out.data(), widened(x).data(), widened(y).data(), &d);
    return out;
  }

  conv_dims d;
  Guarded x, y, w, input_bias, output_bias;
};

// The four kinds of epilogue: plain, bias + relu, accumulate, all of them.
conv_dims with_epilogue(conv_dims d, int kind) {
  d.activation = kind & 1;
  d.accumulate = kind >> 1;
  return d;
}

class Conv : public ::testing::TestWithParam<ConvCase> {};

TEST_P(Conv, forward_equals_the_reference_on_every_target) {
  const conv_dims d = to_dims(GetParam());
  for (int kind = 0; kind < 4; ++kind) {
    const Operands test(with_epilogue(d, kind));
    const auto want = test.forward_reference();
    for_each_target([&](const std::string& target) {
      expect_close(test.forward(1), want, sum_tolerance(int64_t{d.r} * d.s * d.c / d.groups),
                   fmt::format("{}, epilogue {}", target, kind));
    });
  }
}

TEST_P(Conv, input_grad_equals_the_reference_on_every_target) {
  const conv_dims d = to_dims(GetParam());
  for (int kind = 0; kind < 4; ++kind) {
    const Operands test(with_epilogue(d, kind));
    const auto want = test.input_grad_reference();
    for_each_target([&](const std::string& target) {
      expect_close(test.input_grad(1), want, sum_tolerance(int64_t{d.r} * d.s * d.k / d.groups),
                   fmt::format("{}, epilogue {}", target, kind));
    });
  }
}

TEST_P(Conv, weight_grad_equals_the_reference_on_every_target) {
  const conv_dims d = to_dims(GetParam());
  for (int kind : {0, 2}) {
    const Operands test(with_epilogue(d, kind));
    const auto want = test.weight_grad_reference();
    for_each_target([&](const std::string& target) {
      expect_close(test.weight_grad(1), want, sum_tolerance(int64_t{d.n} * d.p * d.q),
                   fmt::format("{}, epilogue {}", target, kind));
    });
  }
}

// conv_transpose2d from y to x, with d's weights: w[k, ...] has k as its input channels.
TEST_P(Conv, transpose_is_the_adjoint_with_the_same_weights) {
  const conv_dims d = to_dims(GetParam());
  const Operands test(d);
  conv_transpose2d_dims t = d;
  t.h = d.p, t.w = d.q, t.c = d.k;
  t.p = d.h, t.q = d.w, t.k = d.c;
  std::vector<double> reference(test.x.size());
  f64::conv_transpose2d_ref(reference.data(), widened(test.y).data(), widened(test.w).data(),
                            static_cast<const double*>(nullptr), &t);
  const auto want = test.input_grad_reference();
  for (size_t i = 0; i < want.size(); ++i) ASSERT_DOUBLE_EQ(reference[i], want[i]) << i;

  const Guarded fast =
      guarded_run(test.x, ops::conv_transpose2d_impl::conv_transpose2d_workspace_bytes(t, 1), 1,
                  [&](float* out, void* workspace, parallel::ThreadPool& pool) {
                    ops::conv_transpose2d_impl::conv_transpose2d_simd(
                        out, test.y.data(), test.w.data(), nullptr, workspace, &t, pool);
                  });
  EXPECT_TRUE(same_bits(fast, test.input_grad(1)));
}

double dot(const Guarded& a, const Guarded& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a.data()[i]) * b.data()[i];
  return sum;
}

// <conv(x, w), y> = <x, input_grad(y, w)> = <w, weight_grad(x, y)>.
TEST_P(Conv, its_gradients_are_its_adjoints) {
  const conv_dims d = to_dims(GetParam());
  const Operands test(d);
  const double forward = dot(test.forward(2), test.y);
  // Each of output_size numbers carries the error of one sum; signs are random.
  const double tolerance =
      sum_tolerance(int64_t{d.r} * d.s * d.c / d.groups) *
          std::sqrt(static_cast<double>(output_size(d))) +
      sum_tolerance(int64_t{d.n} * d.p * d.q) * std::sqrt(static_cast<double>(weight_size(d)));
  EXPECT_NEAR(forward, dot(test.x, test.input_grad(2)), tolerance);
  EXPECT_NEAR(forward, dot(test.w, test.weight_grad(2)), tolerance);
}

TEST_P(Conv, gives_the_same_bits_for_any_number_of_threads) {
  const Operands test(with_epilogue(to_dims(GetParam()), 3));
  for_each_target([&](const std::string& target) {
    const Guarded forward = test.forward(1);
    const Guarded input_grad = test.input_grad(1);
    const Guarded weight_grad = test.weight_grad(1);
    for (int threads : {2, 4}) {
      EXPECT_TRUE(same_bits(forward, test.forward(threads))) << target << " " << threads;
      EXPECT_TRUE(same_bits(input_grad, test.input_grad(threads))) << target << " " << threads;
      EXPECT_TRUE(same_bits(weight_grad, test.weight_grad(threads))) << target << " " << threads;
    }
  });
}

// The gradient of some output channels.
TEST_P(Conv, weight_grad_has_the_same_bits_in_parts) {
  const Operands all(to_dims(GetParam()));
  const Guarded want = all.weight_grad(1);
  const int64_t step = simd::conv_weights_part_rows(all.d);
  const int64_t row = all.d.k > 0 ? weight_size(all.d) / all.d.k : 0;
  for (int64_t first = 0; step > 0 && first < all.d.k; first += step) {
    Operands part = all;
    part.d.k_first = static_cast<int>(first);
    part.d.k_count = static_cast<int>(std::min<int64_t>(step, all.d.k - first));
    part.w = Guarded(part.d.k_count * row);
    EXPECT_EQ(0, std::memcmp(part.weight_grad(2).data(), want.data() + first * row,
                             static_cast<size_t>(part.d.k_count * row) * sizeof(float)))
        << first;
  }
}

bool is_winograd_case(const ConvCase& shape) {
  return std::string(shape.name).starts_with("winograd");
}

TEST(conv_winograd, computes_the_cases_of_its_name_by_tiles_of_every_kind) {
  using simd::WinogradKind;
  for (const ConvCase& shape : kConvCases) {
    if (!is_winograd_case(shape)) continue;
    const conv_dims d = to_dims(shape);
    const std::string name(shape.name);
    const bool strided = name.starts_with("winograd_strided");
    const WinogradKind kind = strided                            ? WinogradKind::kStrided
                              : name.starts_with("winograd_2x2") ? WinogradKind::kTwo
                                                                 : WinogradKind::kFour;
    const WinogradKind adjoint = !strided                         ? kind
                                 : name.ends_with("even_padding") ? WinogradKind::kNone
                                                                  : WinogradKind::kStridedAdjoint;
    simd::Workspace counter(nullptr);
    EXPECT_EQ(simd::winograd_kind(simd::plan_forward(d, counter)), kind) << name;
    EXPECT_EQ(simd::winograd_kind(simd::plan_adjoint(d, counter)), adjoint) << name;
    EXPECT_EQ(simd::winograd_weights_kind(d), kind) << name;
  }
}

// Tiles of 4 by 4 take a quarter of the products, beside their transforms; other convolutions run
// in the operations of the formula. A convolution of twice the work takes longer, whatever computes
// it.
TEST(conv_winograd, is_expected_to_take_less_time_than_the_formula) {
  struct Expected {
    int size, stride, dilation;
    double least, most;  // share of the formula's operations
  };
  // What was measured on Zen 4, with some room: 0.34 to 0.37, 0.72 to 0.87.
  const Expected cases[] = {{32, 1, 1, 0.30, 0.42}, {32, 2, 1, 0.65, 0.90}, {32, 1, 2, 1.0, 1.0}};
  for (const Expected& e : cases) {
    double before[3] = {};
    for (const int images : {8, 16}) {
      const ConvCase shape{"",         images,     e.size,     e.size,     64,         64,
                           3,          3,          e.stride,   e.stride,   e.dilation, e.dilation,
                           e.dilation, e.dilation, e.dilation, e.dilation, 1};
      const conv_dims d = to_dims(shape);
      const double flops[] = {simd::conv_fast_flops(d), simd::conv_adjoint_fast_flops(d),
                              simd::conv_weights_fast_flops(d)};
      for (int i = 0; i < 3; ++i) {
        const double share = flops[i] / simd::direct_flops(d);
        EXPECT_GE(share, e.least) << e.stride << " " << e.dilation << " " << i;
        EXPECT_LE(share, e.most) << e.stride << " " << e.dilation << " " << i;
        EXPECT_GT(flops[i], before[i]);
        before[i] = flops[i];
      }
    }
  }
}

// A sum without tiles would never be set to zero.
TEST(conv_winograd, every_partial_sum_of_a_weight_grad_has_tiles) {
  int most = 0;
  for (int n = 0; n < 5; ++n) {
    for (int size = 1; size < 130; ++size) {
      for (const int stride : {1, 2}) {
        const ConvCase shape{"", n, size, size, 64, 32, 3, 3, stride, stride, 1, 1, 1, 1, 1, 1, 1};
        const conv_dims d = to_dims(shape);
        const simd::WinogradKind kind = simd::winograd_weights_kind(d);
        if (kind == simd::WinogradKind::kNone) continue;
        const simd::WinogradWeightSplit split = simd::split_winograd_weights(d, kind, 1);
        EXPECT_LT((split.partials - 1) * split.tiles, split.grid.count) << n << " " << size;
        most = std::max(most, split.partials);
      }
    }
  }
  EXPECT_GE(most, 8);
}

TEST(conv_winograd, weight_grad_of_some_input_channels_has_the_bits_of_all) {
  for (const ConvCase& shape : kConvCases) {
    if (!is_winograd_case(shape)) continue;
    const Operands all(to_dims(shape));
    const Guarded want = all.weight_grad(1);
    Operands some = all;
    some.d.c = all.d.c / 2;
    some.d.c_of = all.d.c;
    const auto c = static_cast<size_t>(some.d.c);
    const auto of = static_cast<size_t>(all.d.c);
    some.x = Guarded(input_size(some.d));
    for (size_t i = 0; i < some.x.size(); ++i) some.x.data()[i] = all.x.data()[i / c * of + i % c];
    some.w = Guarded(weight_size(some.d));
    const Guarded got = some.weight_grad(1);
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got.data()[i], want.data()[i / c * of + i % c]) << shape.name << " " << i;
    }
  }
}

// Few channels let pixels fill the vectors, with scratch for a part of an image in each thread.
TEST(conv_workspace, does_not_grow_with_images_of_few_channels) {
  constexpr int64_t kMost = 208 * 1024;  // a part that fits in a second-level cache, and tables
  const ConvCase cases[] = {
      {"pointwise", 8, 48, 48, 16, 8, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1},
      {"pointwise_expanding", 8, 48, 48, 8, 48, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1},
      {"strided", 4, 224, 224, 3, 16, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1},
      {"long_row", 4, 1, 50000, 4, 4, 1, 9, 1, 1, 0, 0, 4, 4, 1, 1, 1},
      {"long_row_strided", 4, 1, 50000, 2, 6, 1, 4, 1, 2, 0, 0, 1, 1, 1, 1, 1},
  };
  for (ConvCase shape : cases) {
    for (int scale : {1, 5}) {
      shape.n *= scale;
      shape.w *= scale;
      const conv_dims d = to_dims(shape);
      for (int threads : {1, 4}) {
        EXPECT_LE(ops::conv2d_impl::conv2d_workspace_bytes(d, threads), kMost * threads)
            << shape.name;
        EXPECT_LE(ops::conv2d_input_grad_impl::conv2d_input_grad_workspace_bytes(d, threads),
                  kMost * threads)
            << shape.name;
        EXPECT_LE(ops::conv2d_weight_grad_impl::conv2d_weight_grad_workspace_bytes(d, threads),
                  kMost * threads)
            << shape.name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(shapes, Conv, ::testing::ValuesIn(kConvCases),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace thimble::testing::conv_test

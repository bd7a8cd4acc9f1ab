// int8 convolutions on every vector target and with every width of words that runs here: the bits
// of the reference kernel, within the memory they are given.
#include "simd/int8.h"

#include <fmt/format.h>

#include "ops/families/quantized/quantized.h"
#include "ops/families/quantized/quantized_cases.h"
#include "ops/quantized_conv2d/dims.h"
#include "ops/quantized_conv_transpose2d/dims.h"
#include "simd/kernel_testing.h"

// They hold more kernels than the convolutions alone.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
namespace ref {
#include "ops/quantized_conv2d/ref.h"
#include "ops/quantized_conv_transpose2d/ref.h"
}  // namespace ref
#pragma GCC diagnostic pop

namespace thimble::testing::int8_test {
namespace {

using simd::Int8Words;

conv_dims image(int n, int size, int c, int k, int window, int stride, int groups) {
  conv_dims d{};
  d.n = n;
  d.h = size;
  d.w = size + 1;
  d.c = c;
  d.k = k;
  d.r = d.s = window;
  d.stride_h = d.stride_w = stride;
  d.pad_top = d.pad_left = window / 2;
  d.p = (d.h + 2 * d.pad_top - window) / stride + 1;
  d.q = (d.w + 2 * d.pad_left - window) / stride + 1;
  d.dilation_h = d.dilation_w = 1;
  d.groups = groups;
  return d;
}

conv_dims far_taps();
conv_dims farther_taps();
conv_dims low_window();
conv_dims whole_image();
conv_dims row(int c, int k);

std::vector<conv_dims> sizes() {
  conv_dims dilated = image(1, 9, 5, 6, 3, 1, 1);
  dilated.dilation_h = dilated.dilation_w = 2;
  dilated.p = 7;
  dilated.q = 8;
  conv_dims dilated_depthwise = image(1, 12, 20, 20, 3, 1, 20);
  dilated_depthwise.dilation_w = 3;
  dilated_depthwise.q = 9;
  return {
      image(1, 1, 7, 5, 1, 1, 1),
      image(1, 2, 64, 70, 1, 1, 1),
      image(2, 6, 40, 33, 1, 1, 1),
      image(1, 7, 3, 64, 7, 2, 1),
      image(3, 5, 16, 16, 3, 1, 1),
      image(1, 9, 12, 18, 3, 2, 3),
      image(2, 7, 19, 19, 3, 1, 19),
      image(1, 8, 64, 64, 3, 2, 64),
      image(1, 11, 37, 37, 5, 1, 37),
      image(1, 9, 160, 160, 7, 1, 160),
      image(1, 6, 8, 16, 3, 1, 8),
      dilated,
      dilated_depthwise,
      image(1, 30, 16, 16, 3, 1, 16),
      image(1, 30, 5, 33, 3, 1, 1),
      image(1, 26, 10, 144, 1, 1, 1),
      image(1, 25, 4, 20, 1, 5, 1),
      image(1, 50, 12, 80, 3, 2, 2),
      image(1, 41, 6, 20, 3, 2, 1),
      image(1, 98, 3, 8, 3, 1, 1),
      image(1, 12, 16, 32, 3, 1, 1),
      image(2, 9, 8, 48, 1, 2, 1),
      image(2, 15, 3, 16, 3, 1, 1),
      image(1, 31, 16, 16, 3, 1, 1),
      far_taps(),
      farther_taps(),
      image(1, 13, 52, 52, 3, 1, 52),
      image(2, 4, 35, 35, 3, 2, 35),
      image(1, 1, 40, 40, 3, 1, 40),
      image(1, 9, 144, 144, 3, 2, 144),
      low_window(),
      whole_image(),
      row(7, 5),
      row(70, 16),
      row(33, 40),
      row(64, 128),
      row(130, 290),
  };
}

// Several tasks read windows that share few pixels.
conv_dims far_taps() {
  conv_dims d = image(1, 40, 3, 18, 3, 1, 1);
  d.dilation_h = 9;
  d.dilation_w = 13;
  d.pad_top = 8;
  d.pad_left = 20;
  d.p = d.h + 2 * 8 - 18;
  d.q = d.w + 2 * 20 - 26;
  return d;
}

// A small block copies the pixels of each window, a large one every pixel once.
conv_dims farther_taps() {
  conv_dims d = image(1, 64, 1, 16, 3, 1, 1);
  d.w = 130;
  d.dilation_h = d.dilation_w = 30;
  d.p = d.h + 2 - 60;
  d.q = d.w + 2 - 60;
  return d;
}

// Of one row of taps.
conv_dims low_window() {
  conv_dims d = image(1, 6, 48, 48, 3, 1, 48);
  d.r = 1;
  d.pad_top = 0;
  return d;
}

// A window as large as the image: a dense layer.
conv_dims whole_image() {
  conv_dims d = image(30, 4, 6, 21, 1, 1, 1);
  d.r = d.h;
  d.s = d.w;
  d.p = d.q = 1;
  return d;
}

// A dense layer of one sample.
conv_dims row(int c, int k) {
  conv_dims d = image(1, 1, c, k, 1, 1, 1);
  d.w = d.q = 1;
  return d;
}

// Sizes of a transposed convolution.
conv_dims transposed(int n, int size, int c, int k, int window, int stride, int groups) {
  conv_dims d = image(n, size, c, k, window, stride, groups);
  d.pad_top = window / 3;
  d.pad_left = window / 4;
  d.p = (d.h - 1) * stride - 2 * d.pad_top + window;
  d.q = (d.w - 1) * stride - 2 * d.pad_left + window;
  return d;
}

std::vector<conv_dims> transposed_sizes() {
  conv_dims dilated = transposed(1, 6, 5, 20, 3, 4, 1);
  dilated.dilation_h = 6;
  dilated.dilation_w = 3;
  dilated.p += 2 * 5;
  dilated.q += 2 * 2;
  return {
      transposed(1, 1, 3, 5, 1, 1, 1),       transposed(2, 5, 16, 19, 3, 1, 1),
      transposed(2, 6, 35, 70, 4, 2, 1),     transposed(1, 20, 8, 33, 4, 2, 1),
      transposed(1, 4, 7, 18, 2, 3, 1),      transposed(1, 5, 12, 36, 3, 2, 2),
      transposed(1, 9, 130, 130, 4, 2, 130), transposed(2, 5, 9, 9, 2, 3, 9),
      transposed(1, 28, 3, 16, 5, 1, 1),     transposed(1, 9, 84, 84, 3, 1, 84),
      transposed(1, 4, 50, 50, 6, 2, 50),    dilated,
  };
}

struct Operands {
  Operands(const conv_dims& d, uint32_t seed, bool large_bias) {
    std::mt19937 random(seed);
    x = test::random_int8(int64_t{d.n} * d.h * d.w * d.c, random);
    w = test::random_int8(int64_t{d.k} * d.r * d.s * (d.c / d.groups), random);
    for (int k = 0; k < d.k; ++k) {
      const bool edge = large_bias && k % 5 == 3;
      bias.push_back(edge ? (k % 2 == 0 ? INT32_MIN : INT32_MAX)
                          : static_cast<int32_t>(random() % 20001) - 10000);
      // Some results lie inside of the bounds and some beyond, of every width of window.
      const double factor = std::ldexp(1.0 + static_cast<double>(random() % 1000) / 1000.0,
                                       -10 - static_cast<int>(random() % 4));
      factors.push_back(ops::kernel_factor(large_bias && k == 4 ? 3.7 : factor));
    }
  }
  std::vector<int8_t> x, w;
  std::vector<int32_t> bias;
  std::vector<quantized_factor> factors;
};

using Kernel = void (*)(int8_t*, const int8_t*, const int8_t*, const int32_t*, void*,
                        const conv_dims&, const simd::Int8Result&, parallel::ThreadPool&,
                        Int8Words);

template <class Dims, class Reference>
std::vector<int8_t> wanted(const conv_dims& d, const Operands& o, const quantized_result& out,
                           int zero, Reference reference) {
  const ir::Params params = ops::with_channels(Dims{d, zero, out}, o.factors);
  std::vector<int64_t> aligned((params.bytes().size() + 7) / 8);
  std::memcpy(aligned.data(), params.bytes().data(), params.bytes().size());
  std::vector<int8_t> y(static_cast<size_t>(int64_t{d.n} * d.p * d.q * d.k));
  reference(y.data(), o.x.data(), o.w.data(), o.bias.data(),
            reinterpret_cast<const Dims*>(aligned.data()));
  return y;
}

// With weights that are packed beforehand, twice with the same ones.
void expect_bits_of_prepared(const std::vector<int8_t>& right, const conv_dims& d,
                             const Operands& o, const quantized_result& out,
                             parallel::ThreadPool& pool, Int8Words words) {
  const int64_t bytes = simd::int8_conv_prepared_bytes(d, words);
  EXPECT_EQ(bytes > 0, d.groups == 1 || (d.groups == d.c && d.k == d.c));
  if (bytes == 0) return;
  const simd::Int8Result result{out, -11, o.factors.data()};
  Guarded form = make_workspace(bytes);
  simd::int8_conv_prepare(form.data(), o.w.data(), o.bias.data(), d, result, pool, words);
  EXPECT_TRUE(form.intact());
  for (int call = 0; call < 2; ++call) {
    Guarded workspace = make_workspace(simd::int8_conv_prepared_workspace_bytes(d, pool.threads()));
    std::vector<int8_t> y(right.size());
    simd::int8_conv_prepared(y.data(), o.x.data(), form.data(), workspace.data(), d, result, pool,
                             words);
    EXPECT_EQ(y, right) << fmt::format("prepared, words {} fixed {} c {} k {} window {}",
                                       static_cast<int>(words), out.fixed_point, d.c, d.k, d.r);
    EXPECT_TRUE(workspace.intact());
  }
}

// Runs a kernel on every target with every width of words and 1 and 3 threads. How many ways.
int expect_bits(const std::vector<int8_t>& right, const conv_dims& d, const Operands& o,
                const quantized_result& out, Kernel kernel,
                int64_t (*workspace_bytes)(const conv_dims&, int)) {
  int ways = 0;
  for_each_target([&](const std::string& target) {
    for (const Int8Words words : {Int8Words::fastest, Int8Words::pairs, Int8Words::quads}) {
      if (!simd::int8_has(words)) continue;
      for (const int threads : {1, 3}) {
        parallel::ThreadPool pool(threads);
        Guarded workspace = make_workspace(workspace_bytes(d, threads));
        std::vector<int8_t> y(right.size());
        kernel(y.data(), o.x.data(), o.w.data(), o.bias.data(), workspace.data(), d,
               {out, -11, o.factors.data()}, pool, words);
        EXPECT_EQ(y, right) << fmt::format("{} words {} fixed {} threads {} c {} k {} window {}",
                                           target, static_cast<int>(words), out.fixed_point,
                                           threads, d.c, d.k, d.r);
        EXPECT_TRUE(workspace.intact());
        if (kernel == simd::int8_conv) expect_bits_of_prepared(right, d, o, out, pool, words);
        ++ways;
      }
    }
  });
  return ways;
}

TEST(int8_conv, gives_the_bits_of_the_reference_in_every_way) {
  int ways = 0;
  for (const conv_dims& d : sizes()) {
    for (const bool large_bias : {false, true}) {
      const Operands o(d, static_cast<uint32_t>(d.c), large_bias);
      for (const int fixed : {0, 1}) {
        const quantized_result out{fixed, 5, large_bias ? 5 : -128, large_bias ? 100 : 127};
        const std::vector<int8_t> right =
            wanted<quantized_conv2d_dims>(d, o, out, -11, ref::quantized_conv2d_ref);
        ways += expect_bits(right, d, o, out, simd::int8_conv, simd::int8_conv_workspace_bytes);
      }
    }
  }
  EXPECT_GE(ways, static_cast<int>(sizes().size()) * 2 * 2 * 2 * 2);
}

// As where a layer ends in relu6, whose sums have room for the bias.
TEST(int8_conv, keeps_to_bounds_like_the_reference) {
  const conv_dims some[] = {image(1, 5, 84, 84, 3, 1, 84), image(2, 6, 51, 51, 3, 2, 51),
                            image(1, 5, 9, 9, 3, 1, 9), image(1, 7, 16, 48, 3, 1, 1)};
  for (const conv_dims& d : some) {
    const Operands o(d, static_cast<uint32_t>(d.c), false);
    for (const int fixed : {0, 1}) {
      const quantized_result out{fixed, -20, -20, 31};
      const std::vector<int8_t> right =
          wanted<quantized_conv2d_dims>(d, o, out, -11, ref::quantized_conv2d_ref);
      EXPECT_GT(std::count(right.begin(), right.end(), 31), 0);
      EXPECT_GE(expect_bits(right, d, o, out, simd::int8_conv, simd::int8_conv_workspace_bytes), 4);
    }
  }
}

TEST(int8_conv_transpose, gives_the_bits_of_the_reference_in_every_way) {
  int ways = 0;
  for (const conv_dims& d : transposed_sizes()) {
    for (const bool large_bias : {false, true}) {
      const Operands o(d, static_cast<uint32_t>(d.c), large_bias);
      for (const int fixed : {0, 1}) {
        const quantized_result out{fixed, -3, large_bias ? -3 : -128, 127};
        const std::vector<int8_t> right = wanted<quantized_conv_transpose2d_dims>(
            d, o, out, -11, ref::quantized_conv_transpose2d_ref);
        ways += expect_bits(right, d, o, out, simd::int8_conv_transpose,
                            simd::int8_conv_transpose_workspace_bytes);
      }
    }
  }
  EXPECT_GE(ways, static_cast<int>(transposed_sizes().size()) * 2 * 2 * 2 * 2);
}

// Sums near the ends of int32 times scales about 1.
TEST(int8_conv, rounds_large_sums_like_the_reference) {
  conv_dims d = image(1, 6, 33, 37, 1, 1, 1);
  Operands o(d, 3, false);
  for (size_t k = 0; k < o.factors.size(); ++k) {
    o.bias[k] = (k % 2 == 0 ? 1 : -1) * ((1 << 30) - 1 - static_cast<int32_t>(k));
    o.factors[k] = ops::kernel_factor(k % 3 == 0 ? 1.0 - 0x1p-24 : 0x1p-20);
  }
  const quantized_result out{0, 100, -100, 120};
  for (const double largest : {0.5, 1.0, 3.5, 0x1p20}) {
    o.factors[5] = ops::kernel_factor(largest);
    const std::vector<int8_t> right =
        wanted<quantized_conv2d_dims>(d, o, out, -11, ref::quantized_conv2d_ref);
    EXPECT_GE(expect_bits(right, d, o, out, simd::int8_conv, simd::int8_conv_workspace_bytes), 4);
  }
}

// Sums about every half, above and below 0, and factors about 1/2.
TEST(int8_conv, rounds_halves_in_fixed_point_like_the_reference) {
  conv_dims d = image(1, 1, 4, 400, 1, 1, 1);
  Operands o(d, 5, false);
  std::fill(o.w.begin(), o.w.end(), int8_t{0});  // sums are biases
  const quantized_result out{1, 3, -128, 127};
  for (const double fraction : {0.5, 0.5 + 0x1p-20, 0.75, 1.0 - 0x1p-31}) {
    for (size_t k = 0; k < o.factors.size(); ++k) {
      o.bias[k] = static_cast<int32_t>(k / 4) - 50;
      o.factors[k] = ops::kernel_factor(std::ldexp(fraction, -static_cast<int>(k % 4)));
    }
    o.factors[7] = ops::kernel_factor(0.0);
    const std::vector<int8_t> right =
        wanted<quantized_conv2d_dims>(d, o, out, -11, ref::quantized_conv2d_ref);
    EXPECT_GE(expect_bits(right, d, o, out, simd::int8_conv, simd::int8_conv_workspace_bytes), 4);
  }
}

// The last sum below the boundary of every result, and the next ones, of factors with every shift
// that sums of int8 meet.
TEST(int8_conv, rounds_beside_every_boundary_in_fixed_point_like_the_reference) {
  conv_dims d = image(1, 1, 4, 3 * 509, 1, 1, 1);
  const quantized_result out{1, 3, -128, 127};
  std::mt19937 random(7);
  for (int shift = 0; shift <= 16; shift += 2) {
    Operands o(d, 9, false);
    std::fill(o.w.begin(), o.w.end(), int8_t{0});  // sums are biases
    for (int k = 0; k < d.k; ++k) {
      const double factor = std::ldexp(0.5 + static_cast<double>(random()) * 0x1p-33, -shift);
      const double boundary = (k / 3 - 254 - 0.5) / factor;
      o.bias[static_cast<size_t>(k)] = static_cast<int32_t>(std::floor(boundary)) + k % 3;
      o.factors[static_cast<size_t>(k)] = ops::kernel_factor(factor);
    }
    const std::vector<int8_t> right =
        wanted<quantized_conv2d_dims>(d, o, out, -11, ref::quantized_conv2d_ref);
    EXPECT_GE(expect_bits(right, d, o, out, simd::int8_conv, simd::int8_conv_workspace_bytes), 4);
  }
}

TEST(int8_conv, plans_no_workspace_where_sums_do_not_fit) {
  EXPECT_EQ(simd::int8_conv_workspace_bytes(image(1, 1, 70000, 8, 1, 1, 1), 4), 0);
  // Of one pixel, the rows of one register tile and not of a whole task.
  const int64_t one = simd::int8_conv_workspace_bytes(image(1, 1, 65536, 1, 1, 1, 1), 8);
  EXPECT_LT(one, int64_t{65536} * 2 * (16 + 8) + 1024);
}

TEST(quantized_times, equals_its_definition_at_the_ends) {
  const int32_t values[] = {0,
                            1,
                            -1,
                            2,
                            3,
                            -3,
                            127,
                            -128,
                            1 << 20,
                            -(1 << 20),
                            1 << 30,
                            -(1 << 30),
                            INT32_MAX,
                            INT32_MIN,
                            INT32_MAX - 1,
                            INT32_MIN + 1,
                            715827883,
                            -715827883};
  for (int exponent = -34; exponent <= 30; ++exponent) {
    for (const double fraction : {0.5, 0.5 + 0x1p-31, 0.6, 0.75, 0x1.fffffep-1, 1.0 - 0x1p-33}) {
      const double factor = std::ldexp(fraction, exponent);
      const quantized_factor f = ops::kernel_factor(factor);
      EXPECT_GE(f.shift, -31);
      EXPECT_LE(f.shift, 31);
      for (const int32_t v : values) {
        ASSERT_EQ(quantized_times(v, &f), test::oracle_times(v, factor))
            << v << " * " << fraction << " * 2^" << exponent;
      }
    }
  }
}

}  // namespace
}  // namespace thimble::testing::int8_test

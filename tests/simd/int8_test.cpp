// int8 convolutions on every vector target and with every width of words that runs here: the bits
// of the reference kernel, within the memory they are given.
#include "simd/int8.h"

#include <fmt/format.h>

#include "ops/families/quantized/quantized.h"
#include "ops/families/quantized/quantized_cases.h"
#include "ops/quantized_conv2d/dims.h"
#include "simd/kernel_testing.h"

namespace ref {
#include "ops/quantized_conv2d/ref.h"
}  // namespace ref

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

std::vector<int8_t> wanted(const conv_dims& d, const Operands& o, const quantized_result& out,
                           int zero) {
  const ir::Params params = ops::with_channels(quantized_conv2d_dims{d, zero, out}, o.factors);
  std::vector<int64_t> aligned((params.bytes().size() + 7) / 8);
  std::memcpy(aligned.data(), params.bytes().data(), params.bytes().size());
  std::vector<int8_t> y(static_cast<size_t>(int64_t{d.n} * d.p * d.q * d.k));
  ref::quantized_conv2d_ref(y.data(), o.x.data(), o.w.data(), o.bias.data(),
                            reinterpret_cast<const quantized_conv2d_dims*>(aligned.data()));
  return y;
}

TEST(int8_conv, gives_the_bits_of_the_reference_in_every_way) {
  int ways = 0;
  for (const conv_dims& d : sizes()) {
    for (const bool large_bias : {false, true}) {
      const Operands o(d, static_cast<uint32_t>(d.c), large_bias);
      for (const int fixed : {0, 1}) {
        const quantized_result out{fixed, 5, large_bias ? 5 : -128, 127};
        const std::vector<int8_t> right = wanted(d, o, out, -11);
        for_each_target([&](const std::string& target) {
          for (const Int8Words words : {Int8Words::fastest, Int8Words::pairs, Int8Words::quads}) {
            if (!simd::int8_has(words)) continue;
            for (const int threads : {1, 3}) {
              parallel::ThreadPool pool(threads);
              Guarded workspace = make_workspace(simd::int8_conv_workspace_bytes(d, threads));
              std::vector<int8_t> y(right.size());
              simd::int8_conv(y.data(), o.x.data(), o.w.data(), o.bias.data(), workspace.data(), d,
                              {out, -11, o.factors.data()}, pool, words);
              EXPECT_EQ(y, right) << fmt::format(
                  "{} words {} fixed {} threads {} c {} k {} window {}", target,
                  static_cast<int>(words), fixed, threads, d.c, d.k, d.r);
              EXPECT_TRUE(workspace.intact());
              ++ways;
            }
          }
        });
      }
    }
  }
  EXPECT_GE(ways, static_cast<int>(sizes().size()) * 2 * 2 * 2 * 2);
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

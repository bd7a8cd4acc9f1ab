#include <cstdint>
#include <cstring>
#include <vector>

#include "ops/families/quantized/nearest_micro.h"
#include "ops/families/quantized/pair_cases.h"
#include "ops/families/quantized/quantized.h"
#include "ops/families/quantized/sum_dims.h"
#include "ops/families/quantized/sum_fast.h"

namespace thimble::test::quantized_add_test {
namespace {

namespace plain {
#include "ops/quantized_add/ref.h"
}
namespace micro {
#include "ops/quantized_add/micro.h"
}

}  // namespace

THIMBLE_OP_CASES(quantized_add) { return quantized_pair_cases<QuantizedAddAttrs>(); }

TEST(quantized_add, equals_the_definition_for_every_pair) {
  expect_every_pair<QuantizedAddAttrs>("quantized_add", oracle_sum<1>);
}

// Of every pair, also with the sum in the place of an operand, and with sums on the boundary
// between two integers: multiples of 1/2 and of 1/26.
TEST(quantized_add, of_vectors_has_the_bits_of_the_reference_in_fixed_point) {
  std::vector<int8_t> a;
  std::vector<int8_t> b;
  for (int i = 0; i < 256 * 256; ++i) {
    a.push_back(static_cast<int8_t>(i % 256 - 128));
    b.push_back(static_cast<int8_t>(i / 256 - 128));
  }
  parallel::ThreadPool pool(1);
  const auto half = ops::kernel_factor(0.5);
  for (const double other : {0.5, 0.05 / 0.26, 0.37, 1e-3}) {
    for (const double scale : {0.5, 1.0, 0.26 / 1.3, 0.7717, 30.0}) {
      for (const int32_t sign : {1, -1}) {
        quantized_sum_dims d{};
        d.walk.n = d.walk.size[0] = static_cast<ptrdiff_t>(a.size());
        d.walk.count = d.walk.stride[0][0] = d.walk.stride[1][0] = 1;
        d.out = {1, 6, -128, 120};
        d.a_zero_point = -3;
        d.b_zero_point = 14;
        d.a_factor = ops::kernel_factor(other);
        d.b_factor = half;
        d.y_factor = ops::kernel_factor(2 * scale * 0x1p-20);
        ASSERT_TRUE(ops::quantized_sum_is_plain(d));
        std::vector<int8_t> wanted(a.size());
        for (size_t i = 0; i < a.size(); ++i) {
          wanted[i] = quantized_clamp(quantized_sum_unbounded(a[i], b[i], sign, &d), &d.out);
        }
        std::vector<int8_t> y = a;
        ops::quantized_sum_fast(y.data(), y.data(), b.data(), sign, d, pool);
        EXPECT_EQ(y, wanted) << other << " " << scale << " " << sign;
      }
    }
  }
}

TEST(quantized_add, of_microcontrollers_has_the_results_of_the_reference) {
  constexpr int kCount = 256 * 256 - 3;  // no whole number of bytes of a mask
  std::vector<int8_t> a;
  std::vector<int8_t> b;
  for (int i = 0; i < kCount; ++i) {
    a.push_back(static_cast<int8_t>(i % 256 - 128));
    b.push_back(static_cast<int8_t>(i / 256 - 128));
  }
  const size_t bytes = (kCount + 7) / 8;
  for (const int fixed_point : {0, 1}) {
    for (const int low : {-128, -4}) {
      for (const int is_repeated : {0, 1}) {
        for (const float scale : {0.1F, 1e-6F}) {
          quantized_sum_dims d{};
          d.walk.n = d.walk.size[0] = kCount;
          d.walk.count = 1;
          d.walk.stride[0][0] = 1;
          d.walk.stride[1][0] = 1 - is_repeated;
          d.out = {fixed_point, 6, low, 127};
          d.a_zero_point = -3;
          d.b_zero_point = 14;
          d.a_scale = 0.05F;
          d.b_scale = 0.13F;
          d.y_scale = scale;
          d.a_factor = {0.5F, 1 << 30, -1};
          d.b_factor = {0.5F, 1 << 30, 0};
          d.y_factor = {1e-6F, 1 << 30, -18};
          std::vector<int8_t> wanted(kCount);
          std::vector<int8_t> made(kCount);
          plain::quantized_add_ref(wanted.data(), a.data(), b.data(), &d);
          micro::quantized_add_ref(made.data(), a.data(), b.data(), &d);
          EXPECT_EQ(made, wanted);
          std::vector<uint8_t> wanted_bits(bytes);
          std::vector<uint8_t> bits(bytes, 77);
          plain::quantized_add_inside_ref(wanted_bits.data(), a.data(), b.data(), &d);
          micro::quantized_add_inside_ref(bits.data(), a.data(), b.data(), &d);
          EXPECT_EQ(bits, wanted_bits);
        }
      }
    }
  }
}

}  // namespace thimble::test::quantized_add_test

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "harness/vector_targets.h"

namespace thimble::test::storage_16bit_test {
namespace {

ir::Attrs to(DType dtype) { return ir::Attrs::of(To16BitAttrs{dtype}); }

OpCase stored(const char* name, const Shape& shape, DType dtype) {
  return {.name = name,
          .inputs = {{.shape = shape, .low = -9, .high = 9}},
          .attrs = to(dtype),
          .expect = {shape}};
}

}  // namespace

THIMBLE_OP_CASES(to_16bit) {
  return {.cases = {stored("bf16", {3, 7}, DType::bf16), stored("f16", {3, 7}, DType::f16),
                    stored("two_and_a_half_tiles", {40001}, DType::f16),
                    stored("empty", {0, 4}, DType::bf16)},
          .rejects = {{"integers", {{.shape = {2}, .dtype = DType::i32}}, {}, "must be f32"},
                      {"to_bytes", {{.shape = {2}}}, to(DType::u8), "f16 or bf16"}}};
}

THIMBLE_OP_CASES(from_16bit) {
  const auto loaded = [](const char* name, const Shape& shape, DType dtype) {
    return OpCase{.name = name,
                  .inputs = {{.shape = shape, .dtype = dtype, .any_bits = true}},
                  .expect = {shape}};
  };
  return {.cases = {loaded("bf16", {3, 7}, DType::bf16), loaded("f16", {3, 7}, DType::f16),
                    loaded("two_and_a_half_tiles", {40001}, DType::f16),
                    loaded("empty", {0, 4}, DType::bf16)},
          .rejects = {{"floats", {{.shape = {2}}}, {}, "f16 or bf16"}}};
}

namespace {

std::vector<uint16_t> narrowed(const std::vector<float>& x, DType dtype, Kernel which) {
  const Shape shape{static_cast<int64_t>(x.size())};
  return values_of<uint16_t>(run_op("to_16bit", to(dtype), {tensor(shape, x)}, which)[0]);
}

// Worked out by hand from the formats.
TEST(storage_16bit, rounds_to_the_nearest_and_ties_to_even) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {0.0F,       -0.0F,     1.0F,     -2.0F,      65504.0F,
                                65519.0F,   65520.0F,  inf,      -inf,       0x1.002p0F,
                                0x1.006p0F, 0x1p-24F,  0x1p-25F, 0x1.8p-24F, 0x1p-14F,
                                0x1.01p0F,  0x1.03p0F, 3e38F,    3.4e38F,    1e-40F};
  const std::vector<uint16_t> f16 = {0x0000, 0x8000, 0x3c00, 0xc000, 0x7bff, 0x7bff, 0x7c00,
                                     0x7c00, 0xfc00, 0x3c00, 0x3c02, 0x0001, 0x0000, 0x0002,
                                     0x0400, 0x3c04, 0x3c0c, 0x7c00, 0x7c00, 0x0000};
  const std::vector<uint16_t> bf16 = {0x0000, 0x8000, 0x3f80, 0xc000, 0x4780, 0x4780, 0x4780,
                                      0x7f80, 0xff80, 0x3f80, 0x3f80, 0x3380, 0x3300, 0x33c0,
                                      0x3880, 0x3f80, 0x3f82, 0x7f62, 0x7f80, 0x0001};
  for (const Kernel which : {Kernel::reference, Kernel::fast}) {
    EXPECT_EQ(narrowed(x, DType::f16, which), f16);
    EXPECT_EQ(narrowed(x, DType::bf16, which), bf16);
  }
}

TEST(storage_16bit, gives_every_number_of_16_bits_back) {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  for (const DType dtype : {DType::f16, DType::bf16}) {
    for (const Kernel which : {Kernel::reference, Kernel::fast}) {
      const auto x =
          values_of<float>(run_op("from_16bit", {}, {tensor(dtype, {65536}, all)}, which)[0]);
      const std::vector<uint16_t> back = narrowed(x, dtype, which);
      for (size_t i = 0; i < all.size(); ++i) {
        if (std::isnan(x[i])) continue;
        ASSERT_EQ(back[i], all[i]) << x[i];
      }
      const int bits = dtype == DType::f16 ? 10 : 7;  // of the fraction
      EXPECT_EQ(x[static_cast<size_t>(1)], std::ldexp(1.0F, dtype == DType::f16 ? -24 : -133));
      EXPECT_TRUE(std::isnan(x[0x7fff]));
      EXPECT_EQ(x[dtype == DType::f16 ? 0x3c01 : 0x3f81], 1.0F + std::ldexp(1.0F, -bits));
    }
  }
}

float float_of(uint32_t bits) {
  float value = 0.0F;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

uint32_t bits_of(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

std::vector<float> floats_of(const std::vector<uint16_t>& narrow, DType dtype, Kernel which) {
  const Shape shape{static_cast<int64_t>(narrow.size())};
  return values_of<float>(run_op("from_16bit", {}, {tensor(dtype, shape, narrow)}, which)[0]);
}

// Between a number of 16 bits and the next one, away from 0, the number in the middle goes to the
// even one, its neighbours go to the nearer one.
TEST(storage_16bit, rounds_right_around_every_middle_on_every_target) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const auto infinity = static_cast<uint16_t>(dtype == DType::f16 ? 0x7c00 : 0x7f80);
    std::vector<float> x;
    std::vector<uint16_t> wanted;
    std::vector<uint16_t> all(infinity + 1);
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
    std::vector<float> numbers = floats_of(all, dtype, Kernel::reference);
    // Infinity stands for the number after the largest.
    const double beyond = 2.0 * static_cast<double>(numbers[infinity - 1]) -
                          static_cast<double>(numbers[infinity - 2]);
    for (uint16_t low = 0; low < infinity; ++low) {
      const auto high = static_cast<uint16_t>(low + 1);
      const double upper = high == infinity ? beyond : static_cast<double>(numbers[high]);
      const auto middle = static_cast<float>((static_cast<double>(numbers[low]) + upper) / 2.0);
      for (const uint32_t sign : {0U, 1U}) {
        for (const int step : {-1, 0, 1}) {
          const uint32_t bits = bits_of(middle) + static_cast<uint32_t>(step);
          const uint16_t nearest = step < 0 ? low : step > 0 ? high : low % 2 == 0 ? low : high;
          x.push_back(float_of(bits | sign << 31));
          wanted.push_back(static_cast<uint16_t>(nearest | sign << 15));
        }
      }
    }
    EXPECT_EQ(narrowed(x, dtype, Kernel::reference), wanted);
    for_each_target([&](const std::string& target) {
      EXPECT_EQ(narrowed(x, dtype, Kernel::fast), wanted) << target;
    });
  }
}

// The bits of the reference kernels, of NaN, too.
TEST(storage_16bit, has_the_same_bits_on_every_target) {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  std::vector<float> x;  // every exponent, NaN with many fractions
  for (uint32_t upper = 0; upper < 65536; ++upper) {
    for (const uint32_t lower : {0U, 1U, 0x1fffU, 0x7fffU, 0x8000U, 0xffffU}) {
      x.push_back(float_of(upper << 16 | lower));
    }
  }
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const auto back = [&](Kernel which) {
      std::vector<uint32_t> bits;
      for (const float value : floats_of(all, dtype, which)) bits.push_back(bits_of(value));
      return bits;
    };
    const std::vector<uint16_t> narrow = narrowed(x, dtype, Kernel::reference);
    const std::vector<uint32_t> floats = back(Kernel::reference);
    for_each_target([&](const std::string& target) {
      EXPECT_EQ(narrowed(x, dtype, Kernel::fast), narrow) << target;
      EXPECT_EQ(back(Kernel::fast), floats) << target;
    });
  }
}

TEST(storage_16bit, keeps_nan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const std::vector<uint16_t> narrow = narrowed({nan}, dtype, Kernel::fast);
    const auto back =
        values_of<float>(run_op("from_16bit", {}, {tensor(dtype, {1}, narrow)}, Kernel::fast)[0]);
    EXPECT_TRUE(std::isnan(back[0]));
  }
}

}  // namespace
}  // namespace thimble::test::storage_16bit_test

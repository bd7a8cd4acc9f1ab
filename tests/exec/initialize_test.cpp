#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "exec/memory.h"
#include "simd/philox.h"

namespace thimble::exec::initialize_test {
namespace {

// Known answers published with Random123 (Salmon et al. 2011).
TEST(philox, gives_the_published_words) {
  const struct {
    uint32_t counter[4];
    uint32_t key[2];
    uint32_t words[4];
  } cases[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const auto& test : cases) {
    const philox_block block = philox(test.counter, test.key);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(block.v[i], test.words[i]);
  }
}

std::vector<float> filled(const Initializer& init, const Shape& shape, uint64_t seed = 7,
                          const std::string& name = "w") {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  fill_initial(init, name, seed, shape, values.data());
  return values;
}

struct Moments {
  double mean = 0.0;
  double stddev = 0.0;
  double largest = 0.0;
};

Moments moments(const std::vector<float>& values) {
  Moments m;
  for (const float v : values)
    m.mean += static_cast<double>(v) / static_cast<double>(values.size());
  for (const float v : values) {
    const double d = static_cast<double>(v) - m.mean;
    m.stddev += d * d / static_cast<double>(values.size());
    m.largest = std::max(m.largest, std::abs(static_cast<double>(v)));
  }
  m.stddev = std::sqrt(m.stddev);
  return m;
}

TEST(initializer, can_leave_a_row_at_zero) {
  const std::vector<float> all = filled(init::normal(0.0, 1.0), {3, 2});
  Initializer but_one = init::normal(0.0, 1.0);
  but_one.zero_row = 1;
  EXPECT_EQ(filled(but_one, {3, 2}),
            (std::vector<float>{all[0], all[1], 0.0F, 0.0F, all[4], all[5]}));
}

TEST(initializer, has_the_spread_of_its_source) {
  const Shape conv{64, 3, 3, 32};  // fan_in 288, fan_out 576
  const struct {
    const char* name;
    Initializer init;
    double stddev;
  } cases[] = {
      {"lecun_uniform", init::lecun_uniform(), std::sqrt(1.0 / 288)},
      {"lecun_normal", init::lecun_normal(), std::sqrt(1.0 / 288)},
      {"xavier_uniform", init::xavier_uniform(), std::sqrt(2.0 / (288 + 576))},
      {"xavier_normal", init::xavier_normal(), std::sqrt(2.0 / (288 + 576))},
      {"he_uniform", init::he_uniform(), std::sqrt(2.0 / 288)},
      {"he_normal", init::he_normal(), std::sqrt(2.0 / 288)},
      {"torch_default", init::torch_default(), std::sqrt(1.0 / 3.0 / 288)},
      {"uniform", init::uniform(-0.5, 0.5), std::sqrt(1.0 / 12)},
      {"normal", init::normal(0.0, 0.3), 0.3},
  };
  for (const auto& [name, init, stddev] : cases) {
    const Moments m = moments(filled(init, conv));
    // 18432 samples: the mean's standard error is stddev / 136, that of stddev about 0.5 %.
    EXPECT_NEAR(m.mean, 0.0, 5 * stddev / 136) << name;
    EXPECT_NEAR(m.stddev, stddev, 0.03 * stddev) << name;
  }
}

TEST(initializer, keeps_uniform_values_inside_their_bound) {
  const double bound = 1.0 / std::sqrt(288.0);
  EXPECT_LE(moments(filled(init::torch_default(), {64, 3, 3, 32})).largest, bound);
  EXPECT_GT(moments(filled(init::torch_default(), {64, 3, 3, 32})).largest, 0.99 * bound);
}

TEST(initializer, fills_constants) {
  for (const float v : filled(init::constant(2.5), {3, 4})) EXPECT_EQ(v, 2.5F);
  for (const float v : filled(init::ones(), {3})) EXPECT_EQ(v, 1.0F);
  for (const float v : filled(init::zeros(), {3})) EXPECT_EQ(v, 0.0F);
}

TEST(initializer, makes_the_shorter_side_orthonormal) {
  for (const Shape& shape : {Shape{4, 10}, Shape{10, 4}, Shape{5, 5}, Shape{6, 2, 2, 3}}) {
    const std::vector<float> w = filled(init::orthogonal(2.0), shape);
    const auto rows = static_cast<size_t>(shape[0]);
    const size_t cols = w.size() / rows;
    const bool wide = rows <= cols;
    const size_t vectors = wide ? rows : cols;
    const size_t length = wide ? cols : rows;
    const auto at = [&](size_t vector, size_t i) {
      return static_cast<double>(wide ? w[vector * cols + i] : w[i * cols + vector]);
    };
    for (size_t a = 0; a < vectors; ++a) {
      for (size_t b = 0; b < vectors; ++b) {
        double dot = 0.0;
        for (size_t i = 0; i < length; ++i) dot += at(a, i) * at(b, i);
        EXPECT_NEAR(dot, a == b ? 4.0 : 0.0, 1e-5) << to_string(shape);
      }
    }
  }
}

TEST(initializer, depends_on_seed_and_name_alone) {
  const Shape shape{8, 8};
  EXPECT_EQ(filled(init::he_normal(), shape), filled(init::he_normal(), shape));
  EXPECT_NE(filled(init::he_normal(), shape), filled(init::he_normal(), shape, 8));
  EXPECT_NE(filled(init::he_normal(), shape), filled(init::he_normal(), shape, 7, "v"));
}

}  // namespace
}  // namespace thimble::exec::initialize_test

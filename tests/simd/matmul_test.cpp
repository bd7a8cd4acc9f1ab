#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "ops/matmul/dims.h"
#include "ops/matmul/simd.h"
#include "simd/gemm.h"
#include "simd/kernel_testing.h"

namespace f64 {
using real = double;
using wide = double;
#include "ops/matmul/ref.h"
}  // namespace f64

namespace thimble::testing::matmul_test {
namespace {

struct Size {
  int m, n, k;
};

const Size kSizes[] = {{1, 1, 1},      {1, 17, 5},    {3, 1, 9},     {6, 64, 32},  {7, 65, 33},
                       {13, 10, 300},  {32, 16, 392}, {32, 392, 16}, {5, 130, 64}, {64, 10, 512},
                       {200, 100, 48}, {2, 3, 700},   {385, 70, 20}, {0, 4, 4},    {4, 0, 4},
                       {4, 5, 0},      {96, 96, 520}, {1, 300, 100}, {17, 33, 4},  {10, 512, 64}};

// The buffers of one product, its reference result, and one run of the fast kernel.
struct Case {
  explicit Case(const matmul_dims& dims)
      : d(dims),
        a(int64_t{d.broadcast_a ? 1 : d.batch} * d.m * d.k),
        b(int64_t{d.broadcast_b ? 1 : d.batch} * d.k * d.n),
        bias(d.n),
        before(int64_t{d.batch} * d.m * d.n) {
    fill_random(a, 1);
    fill_random(b, 2);
    fill_random(bias, 3);
    fill_random(before, 4);
  }

  [[nodiscard]] std::vector<double> reference(bool with_bias) const {
    std::vector<double> y = widened(before);
    const auto bias64 = widened(bias);
    f64::matmul_ref(y.data(), widened(a).data(), widened(b).data(),
                    with_bias ? bias64.data() : nullptr, &d);
    return y;
  }

  [[nodiscard]] Guarded run(bool with_bias, int threads) const {
    parallel::ThreadPool pool(threads);
    Guarded y = before;
    Guarded workspace = make_workspace(ops::matmul_impl::matmul_workspace_bytes(d, threads));
    ops::matmul_impl::matmul_simd(y.data(), a.data(), b.data(), with_bias ? bias.data() : nullptr,
                                  workspace.data(), &d, pool);
    EXPECT_TRUE(y.intact()) << "wrote outside the result";
    EXPECT_TRUE(workspace.intact()) << "wrote outside the workspace";
    return y;
  }

  matmul_dims d;
  Guarded a, b, bias, before;
};

std::string describe(const matmul_dims& d) {
  return fmt::format("batch {} m {} n {} k {} transpose {}{} broadcast {}{} relu {} accumulate {}",
                     d.batch, d.m, d.n, d.k, d.transpose_a, d.transpose_b, d.broadcast_a,
                     d.broadcast_b, d.activation, d.accumulate);
}

TEST(Matmul, equals_the_reference_on_every_target) {
  for_each_target([](const std::string& target) {
    for (const Size& size : kSizes) {
      for (int variant = 0; variant < 8; ++variant) {
        const matmul_dims d{1, size.m, size.n,       size.k,      variant & 1, variant >> 1 & 1,
                            0, 0,      variant >> 2, variant >> 2};
        const Case test(d);
        const bool with_bias = variant != 0;
        expect_close(test.run(with_bias, 1), test.reference(with_bias), sum_tolerance(d.k),
                     target + ": " + describe(d));
        if (HasFatalFailure()) return;
      }
    }
  });
}

TEST(Matmul, multiplies_every_matrix_of_a_batch_and_repeats_a_broadcast_one) {
  for_each_target([](const std::string& target) {
    for (int variant = 0; variant < 16; ++variant) {
      const matmul_dims d{
          3, 9, 20, 11, variant & 1, variant >> 1 & 1, variant >> 2 & 1, variant >> 3, 0, 0};
      const Case test(d);
      expect_close(test.run(false, 2), test.reference(false), sum_tolerance(d.k),
                   target + ": " + describe(d));
      if (HasFatalFailure()) return;
    }
  });
}

TEST(Matmul, gives_the_same_bits_for_any_number_of_threads) {
  for_each_target([](const std::string& target) {
    for (const Size& size : {Size{64, 512, 784}, Size{400, 130, 300}, Size{32, 16, 392}}) {
      for (int variant = 0; variant < 4; ++variant) {
        const Case test({1, size.m, size.n, size.k, variant & 1, variant >> 1, 0, 0, 0, 1});
        const Guarded one = test.run(true, 1);
        for (int threads : {2, 4}) {
          EXPECT_TRUE(same_bits(one, test.run(true, threads))) << target << describe(test.d);
        }
      }
    }
  });
}

// One row does not pack b.
TEST(Matmul, gives_a_row_alone_the_bits_that_it_has_among_others) {
  for_each_target([](const std::string& target) {
    for (const int n : {1, 16, 17, 70, 300}) {
      for (const int k : {0, 1, 16, 33, 256, 300, 530}) {
        for (int variant = 0; variant < 4; ++variant) {
          const int transposed = variant & 1;
          const int more = variant >> 1;
          const Guarded one = Case({1, 1, n, k, 0, transposed, 0, 0, more, more}).run(true, 2);
          const Guarded two = Case({1, 2, n, k, 0, transposed, 0, 0, more, more}).run(true, 1);
          for (int j = 0; j < n; ++j) {
            ASSERT_EQ(one.data()[j], two.data()[j]) << target << " n " << n << " k " << k;
          }
        }
      }
    }
  });
}

TEST(Matmul, gives_a_row_alone_the_same_bits_with_a_narrow_matrix) {
  using Type = simd::NarrowMatrix::Type;
  for_each_target([](const std::string& target) {
    for (const Type type : {Type::bf16, Type::f16, Type::i8, Type::i4}) {
      for (const int n : {5, 64, 130}) {
        for (const int k : {2, 33, 64, 290}) {
          Guarded a(int64_t{2} * k);
          fill_random(a, 1);
          std::vector<uint16_t> b(static_cast<size_t>(n * k + 1));
          // Any bits of an exponent that is not the largest.
          for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<uint16_t>(i * 40503U) & 0xBBFF;
          for (const bool transposed : {false, true}) {
            simd::GemmSizes sizes{.m = 2, .n = n, .k = k, .transpose_b = transposed};
            parallel::ThreadPool pool(1);
            Guarded workspace = make_workspace(simd::gemm_narrow_workspace_bytes(sizes, 1));
            Guarded two(int64_t{2} * n);
            Guarded one(n);
            const simd::NarrowMatrix matrix{type, b.data()};
            simd::gemm_narrow(two.data(), a.data(), matrix, nullptr, workspace.data(), sizes, pool);
            sizes.m = 1;
            simd::gemm_narrow(one.data(), a.data(), matrix, nullptr, workspace.data(), sizes, pool);
            EXPECT_TRUE(one.intact());
            EXPECT_EQ(std::memcmp(one.data(), two.data(), sizeof(float) * static_cast<size_t>(n)),
                      0)
                << target << " type " << static_cast<int>(type) << " n " << n << " k " << k;
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace thimble::testing::matmul_test

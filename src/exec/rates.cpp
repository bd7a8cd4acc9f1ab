#include "exec/rates.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "exec/memory.h"
#include "simd/gemm.h"

namespace thimble::exec {
namespace {

constexpr int kRounds = 20;
constexpr int kReferenceRounds = 5;  // they take longer
// Small enough to need little memory, large enough to keep several threads busy.
constexpr int kSide = 96;
constexpr int64_t kNumbers = int64_t{kSide} * kSide;
constexpr double kLeastMs = 1e-6;  // the clock's resolution may be coarse

template <class Run>
double shortest_ms(int rounds, const Run& run) {
  using Clock = std::chrono::steady_clock;
  double shortest = std::numeric_limits<double>::infinity();
  for (int round = 0; round < rounds; ++round) {
    const auto start = Clock::now();
    run();
    const std::chrono::duration<double, std::milli> time = Clock::now() - start;
    shortest = std::min(shortest, time.count());
  }
  return std::max(shortest, kLeastMs);
}

// c = a b^T, as a reference kernel computes it.
void plain_product(float* c, const float* a, const float* b) {
  for (int64_t i = 0; i < kSide; ++i) {
    for (int64_t j = 0; j < kSide; ++j) {
      double sum = 0.0;
      for (int64_t l = 0; l < kSide; ++l) {
        sum += static_cast<double>(a[i * kSide + l]) * static_cast<double>(b[j * kSide + l]);
      }
      c[i * kSide + j] = static_cast<float>(sum);
    }
  }
}

void add_rows(float* c, const float* a, const float* b, int64_t first, int64_t end) {
  for (int64_t i = first * kSide; i < end * kSide; ++i) c[i] = a[i] + b[i];
}

plan::NodeTimes measure(parallel::ThreadPool& pool, bool fast) {
  const simd::GemmSizes sizes{.m = kSide, .n = kSide, .k = kSide};
  const Block arrays(3 * kNumbers * static_cast<int64_t>(sizeof(float)));
  const Block workspace(simd::gemm_workspace_bytes(sizes, pool.threads()));
  auto* const a = reinterpret_cast<float*>(arrays.data());
  float* const b = a + kNumbers;
  float* const c = b + kNumbers;
  const int rounds = fast ? kRounds : kReferenceRounds;
  const double product_ms = shortest_ms(rounds, [&] {
    if (fast) {
      simd::gemm(c, a, b, nullptr, workspace.data(), sizes, pool);
    } else {
      plain_product(c, a, b);
    }
  });
  const double sum_ms = shortest_ms(rounds, [&] {
    if (fast) {
      pool.run(kSide, [&](int64_t row) { add_rows(c, a, b, row, row + 1); });
    } else {
      add_rows(c, a, b, 0, kSide);
    }
  });
  constexpr double kFlops = 2.0 * kSide * kSide * kSide;
  return plan::NodeTimes(product_ms / kFlops,
                         sum_ms / static_cast<double>(3 * kNumbers * int64_t{sizeof(float)}));
}

}  // namespace

plan::NodeTimes measured_rates(parallel::ThreadPool& pool, bool fast) {
  static std::mutex mutex;
  static std::map<std::pair<int, bool>, plan::NodeTimes> known;
  const std::lock_guard lock(mutex);
  const std::pair key(pool.threads(), fast);
  const auto found = known.find(key);
  return found != known.end() ? found->second
                              : known.emplace(key, measure(pool, fast)).first->second;
}

}  // namespace thimble::exec

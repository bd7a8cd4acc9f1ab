#include "exec/rates.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <mutex>

#include "exec/memory.h"
#include "simd/gemm.h"

namespace thimble::exec {
namespace {

constexpr int kRounds = 20;
// Small enough to need little memory, large enough to keep several threads busy.
constexpr int kSide = 96;
constexpr int64_t kNumbers = int64_t{kSide} * kSide;
constexpr double kLeastMs = 1e-6;  // the clock's resolution may be coarse

template <class Run>
double shortest_ms(const Run& run) {
  using Clock = std::chrono::steady_clock;
  double shortest = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    const auto start = Clock::now();
    run();
    const std::chrono::duration<double, std::milli> time = Clock::now() - start;
    shortest = std::min(shortest, time.count());
  }
  return std::max(shortest, kLeastMs);
}

plan::NodeTimes measure(parallel::ThreadPool& pool) {
  const simd::GemmSizes sizes{.m = kSide, .n = kSide, .k = kSide};
  const Block arrays(3 * kNumbers * static_cast<int64_t>(sizeof(float)));
  const Block workspace(simd::gemm_workspace_bytes(sizes, pool.threads()));
  auto* const a = reinterpret_cast<float*>(arrays.data());
  float* const b = a + kNumbers;
  float* const c = b + kNumbers;
  const double product_ms =
      shortest_ms([&] { simd::gemm(c, a, b, nullptr, workspace.data(), sizes, pool); });
  const double sum_ms = shortest_ms([&] {
    pool.run(kSide, [&](int64_t row) {
      for (int64_t i = row * kSide; i < (row + 1) * kSide; ++i) c[i] = a[i] + b[i];
    });
  });
  constexpr double kFlops = 2.0 * kSide * kSide * kSide;
  return plan::NodeTimes(product_ms / kFlops,
                         sum_ms / static_cast<double>(3 * kNumbers * int64_t{sizeof(float)}));
}

}  // namespace

plan::NodeTimes measured_rates(parallel::ThreadPool& pool) {
  static std::mutex mutex;
  static std::map<int, plan::NodeTimes> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(pool.threads());
  return found != known.end() ? found->second
                              : known.emplace(pool.threads(), measure(pool)).first->second;
}

}  // namespace thimble::exec

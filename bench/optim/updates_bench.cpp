// Times the update kernels on one tensor, in memory as the executor holds it. The argument is its
// number of elements. THIMBLE_BENCH_THREADS sets the threads (default 1); the statistic "min" of
// --benchmark_repetitions is the figure to compare on a machine with other work.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "exec/memory.h"
#include "ops/clip_gradient/simd.h"
#include "ops/common/adam_simd.h"
#include "ops/rmsprop_update/simd.h"
#include "ops/sgd_update/simd.h"

namespace {

using thimble::exec::Block;
using thimble::exec::ThreadPool;

ThreadPool& pool() {
  static const char* const threads = std::getenv("THIMBLE_BENCH_THREADS");
  static ThreadPool the_pool(threads ? std::atoi(threads) : 1);
  return the_pool;
}

// Tensors of a parameter: itself, its gradient and its states.
class Tensors {
 public:
  Tensors(benchmark::State& state, int count) : n_(static_cast<int>(state.range(0))) {
    for (int i = 0; i < count; ++i) {
      blocks_.emplace_back(int64_t{n_} * 4);
      std::fill_n(at(static_cast<size_t>(i)), n_, 0.01F * static_cast<float>(i + 1));
    }
  }
  [[nodiscard]] int n() const { return n_; }
  [[nodiscard]] float* at(size_t i) const { return reinterpret_cast<float*>(blocks_[i].data()); }

 private:
  int n_;
  std::vector<Block> blocks_;
};

// Nanoseconds an element, and bytes moved for `passes` reads and writes of a tensor.
void report(benchmark::State& state, int n, int passes) {
  state.counters["ns/element"] = benchmark::Counter(
      1e-9 * n, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.SetBytesProcessed(state.iterations() * int64_t{n} * 4 * passes);
}

constexpr float kLr = 1e-6F;
constexpr int32_t kStep = 7;

void adamw(benchmark::State& state) {
  const Tensors t(state, 4);
  adam_dims d{};
  d.n = t.n();
  d.decoupled = 1;
  d.beta1 = 0.9;
  d.beta2 = 0.999;
  d.epsilon = 1e-8;
  d.weight_decay = 0.01;
  float* const out[] = {t.at(0), t.at(2), t.at(3)};
  for (auto _ : state) {
    thimble::ops::adam_simd(out, t.at(0), t.at(1), &kLr, &kStep, t.at(2), t.at(3), nullptr, &d,
                            pool());
    benchmark::ClobberMemory();
  }
  report(state, t.n(), 7);
}

void sgd(benchmark::State& state) {
  const Tensors t(state, 3);
  sgd_dims d{};
  d.n = t.n();
  d.momentum = 0.9;
  float* const out[] = {t.at(0), t.at(2)};
  for (auto _ : state) {
    thimble::ops::sgd_update_simd(out, t.at(0), t.at(1), &kLr, &kStep, t.at(2), &d, pool());
    benchmark::ClobberMemory();
  }
  report(state, t.n(), 5);
}

void rmsprop(benchmark::State& state) {
  const Tensors t(state, 3);
  rmsprop_dims d{};
  d.n = t.n();
  d.alpha = 0.99;
  d.epsilon = 1e-8;
  float* const out[] = {t.at(0), t.at(2)};
  for (auto _ : state) {
    thimble::ops::rmsprop_update_simd(out, t.at(0), t.at(1), &kLr, &kStep, t.at(2), nullptr,
                                      nullptr, &d, pool());
    benchmark::ClobberMemory();
  }
  report(state, t.n(), 5);
}

// The norm of a gradient and its scaling.
void clip(benchmark::State& state) {
  const Tensors t(state, 1);
  clip_dims d{};
  d.n = t.n();
  d.limit = 1e9;
  const Block workspace(thimble::ops::sum_squares_workspace_bytes(d));
  float squares = 0.0F;
  for (auto _ : state) {
    thimble::ops::sum_squares_simd(&squares, t.at(0), nullptr, workspace.data(), &d, pool());
    thimble::ops::clip_by_norm_simd(t.at(0), t.at(0), &squares, &d, pool());
    benchmark::ClobberMemory();
  }
  report(state, t.n(), 3);
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->Arg(1000)->Arg(100'000)->Arg(1'000'000)->Arg(10'000'000)->UseRealTime();
  bench->ComputeStatistics(
      "min", [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); });
}
BENCHMARK(adamw)->Apply(sizes);
BENCHMARK(sgd)->Apply(sizes);
BENCHMARK(rmsprop)->Apply(sizes);
BENCHMARK(clip)->Apply(sizes);

}  // namespace

BENCHMARK_MAIN();

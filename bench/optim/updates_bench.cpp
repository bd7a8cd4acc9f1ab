// Times the updates of all optimizers on one tensor, with memory laid out as in the executor. The
// argument is the number of elements. THIMBLE_BENCH_THREADS sets the threads (default 1). On a
// machine with other load, compare the statistic "min" of --benchmark_repetitions.
#include <benchmark/benchmark.h>

#include <thimble/optimizers.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "exec/program.h"
#include "ops/clip_gradient/dims.h"
#include "train/update.h"

// Defined in the op's simd.cpp.
namespace thimble::ops::clip_gradient_impl {
void sum_squares_simd(float* y, const float* x, const float* previous, void* workspace,
                      const clip_dims* d, parallel::ThreadPool& pool);
[[nodiscard]] int64_t sum_squares_workspace_bytes(const clip_dims& d);
void clip_by_norm_simd(float* y, const float* grad, const float* squares, const clip_dims* d,
                       parallel::ThreadPool& pool);
}  // namespace thimble::ops::clip_gradient_impl

namespace {

using namespace thimble;
using exec::Block;
using parallel::ThreadPool;

ThreadPool& pool() {
  static const char* const threads = std::getenv("THIMBLE_BENCH_THREADS");
  static ThreadPool the_pool(threads ? std::atoi(threads) : 1);
  return the_pool;
}

// Tensors of a parameter: the parameter, its gradient and its states.
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

// Reports nanoseconds per element and bytes moved.
void report(benchmark::State& state, int n, int64_t bytes) {
  state.counters["ns/element"] = benchmark::Counter(
      1e-9 * n, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.SetBytesProcessed(state.iterations() * bytes);
}

// A step of an optimizer on one parameter of rows of 100 numbers. The bytes are those of parameter,
// gradient and state, all but the gradient also written.
void update(benchmark::State& state, const Optimizer& optimizer) {
  const int n = static_cast<int>(state.range(0));
  ir::Graph graph;
  const Shape shape{n / 100, 100};
  const Value param = graph.source("w", {DType::f32, shape}, ir::Role::parameter);
  const Value grad = graph.source("g", {DType::f32, shape}, ir::Role::input);
  const autodiff::Gradient gradient{param.id(), grad.id()};
  train::append_updates(graph, {&gradient, 1}, {.optimizer = optimizer});
  const exec::Program program(graph, {.threads = pool().threads()});
  exec::Store store({&graph});
  store.initialize(1);
  const Block arena(program.plan().arena_bytes);
  exec::Session session(program.data(), store, {arena.data(), static_cast<size_t>(arena.bytes())},
                        pool());
  const auto fill = [&](const std::string& name, auto value) {
    const std::span<std::byte> bytes = session.source(name);
    std::fill_n(reinterpret_cast<decltype(value)*>(bytes.data()), bytes.size() / sizeof(value),
                value);
  };
  fill("g", 0.01F);
  fill(train::kLearningRateName, 1e-6F);
  fill(train::kUpdateNumberName, int32_t{7});
  for (auto _ : state) {
    static_cast<void>(session.run());
    benchmark::ClobberMemory();
  }
  const int64_t stored = program.plan().parameter_bytes + program.plan().state_bytes;
  report(state, n, 2 * stored + int64_t{n} * 4);
}

// The norm of a gradient and its scaling.
void clip(benchmark::State& state) {
  const Tensors t(state, 1);
  clip_dims d{};
  d.n = t.n();
  d.limit = 1e9;
  const Block workspace(ops::clip_gradient_impl::sum_squares_workspace_bytes(d));
  float squares = 0.0F;
  for (auto _ : state) {
    ops::clip_gradient_impl::sum_squares_simd(&squares, t.at(0), nullptr, workspace.data(), &d,
                                              pool());
    ops::clip_gradient_impl::clip_by_norm_simd(t.at(0), t.at(0), &squares, &d, pool());
    benchmark::ClobberMemory();
  }
  report(state, t.n(), int64_t{t.n()} * 4 * 3);
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->Arg(1000)->Arg(100'000)->Arg(1'000'000)->Arg(10'000'000)->UseRealTime();
  bench->ComputeStatistics(
      "min", [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); });
}
BENCHMARK(clip)->Apply(sizes);

}  // namespace

int main(int argc, char** argv) {
  const auto add = [](const std::string& name, const Optimizer& optimizer) {
    benchmark::RegisterBenchmark(name.c_str(), update, optimizer)->Apply(sizes);
  };
  for (const std::string& name : Optimizer::names()) add(name, Optimizer::parse(name));
  add("sgd_momentum", SGD{.momentum = 0.9});
  add("adamw_8bit", AdamW{.state_bits = 8});
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}

// The training step of an embedding with growing tables: with a sparse gradient its time, and its
// memory besides the table and its moments, stay constant. Environment: THIMBLE_BENCH_THREADS (1).
#include <benchmark/benchmark.h>
#include <thimble/ops.h>

#include <cstdlib>
#include <cstring>
#include <random>

#include "exec/program.h"
#include "train/compile.h"
#include "train/update.h"

namespace {

using namespace thimble;

constexpr int64_t kSamples = 32;
constexpr int64_t kSteps = 32;
constexpr int64_t kWidth = 64;

Graph model(int64_t rows, bool sparse) {
  Graph g;
  const Value tokens = g.input("tokens", {kSteps}, DType::i32);
  const Value y =
      embedding(tokens, {.embeddings = rows, .width = kWidth, .sparse = sparse, .name = "token"});
  g.minimize(mean(square(y)));
  return g;
}

// hot_rows: the rows of the table that steps read, spread over it; 0: any row. A few rows stay in
// the cache, so that the time shows the work and not the latency of memory.
void step(benchmark::State& state, const Optimizer& optimizer, bool sparse, int64_t hot_rows) {
  const char* const threads = std::getenv("THIMBLE_BENCH_THREADS");
  const exec::CompileOptions options{.threads = threads != nullptr ? std::atoi(threads) : 1};
  const int64_t rows = state.range(0);
  const Graph described = model(rows, sparse);
  const ir::Graph graph = train::training_graph(described.ir(), {.optimizer = optimizer}, kSamples,
                                                train::StepKind::update);
  const exec::Program program(graph, options);
  exec::Store store({&program.graph()});
  store.initialize(1);
  exec::Block arena(program.plan().arena_bytes);
  parallel::ThreadPool pool(options.threads);
  exec::Session session(program.data(), store, {arena.data(), static_cast<size_t>(arena.bytes())},
                        pool);
  std::mt19937 random(2);
  const float lr = 1e-3F;
  const int32_t number = 5;
  for (auto _ : state) {
    state.PauseTiming();  // different rows in every step, as in training
    const std::span<std::byte> tokens = session.source("tokens");
    for (size_t at = 0; at < tokens.size(); at += sizeof(int32_t)) {
      const int64_t choices = hot_rows == 0 ? rows : hot_rows;
      const auto token = static_cast<int32_t>(random() % static_cast<uint64_t>(choices) *
                                              static_cast<uint64_t>(rows / choices));
      std::memcpy(tokens.data() + at, &token, sizeof(token));
    }
    std::memcpy(session.source(train::kLearningRateName).data(), &lr, sizeof(lr));
    const std::span<std::byte> count = session.source(train::kUpdateNumberName);
    if (!count.empty()) std::memcpy(count.data(), &number, sizeof(number));
    state.ResumeTiming();
    benchmark::DoNotOptimize(session.run());
  }
  state.counters["arena_bytes"] = static_cast<double>(program.plan().arena_bytes);
}

constexpr int64_t kHotRows = 1000;

void sgd(benchmark::State& state) { step(state, SGD{}, true, kHotRows); }
void adagrad(benchmark::State& state) { step(state, Adagrad{}, true, kHotRows); }
void adam(benchmark::State& state) { step(state, SparseAdam{}, true, kHotRows); }
void adam_any_row(benchmark::State& state) { step(state, SparseAdam{}, true, 0); }
void sgd_whole(benchmark::State& state) { step(state, SGD{}, false, kHotRows); }
void adam_whole(benchmark::State& state) { step(state, Adam{}, false, kHotRows); }

// The largest table and its moments take 768 MB.
void sizes(benchmark::internal::Benchmark* b) {
  b->ArgName("rows")->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMicrosecond);
}

BENCHMARK(sgd)->Apply(sizes);
BENCHMARK(adagrad)->Apply(sizes);
BENCHMARK(adam)->Apply(sizes);
BENCHMARK(adam_any_row)->Apply(sizes);
BENCHMARK(sgd_whole)->Apply(sizes);
BENCHMARK(adam_whole)->Apply(sizes);

}  // namespace

BENCHMARK_MAIN();

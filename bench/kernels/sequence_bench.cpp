// Times attention and recurrent layers, those of layers.json; settings as in kernels_bench.cpp.
#include <benchmark/benchmark.h>
#include <thimble/ops.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "autodiff/autodiff.h"
#include "exec/program.h"
#include "ops/scaled_dot_product_attention/simd.h"

namespace {

using namespace thimble;
using namespace thimble::ops;
using thimble::exec::ThreadPool;

ThreadPool& pool() {
  static const char* const threads = std::getenv("THIMBLE_BENCH_THREADS");
  static ThreadPool the_pool(threads ? std::atoi(threads) : 1);
  return the_pool;
}

std::vector<float> random_values(int64_t count) {
  std::mt19937 random(1);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = static_cast<float>(random()) / 4294967296.0f - 0.5f;
  return values;
}

void run_attention(benchmark::State& state, const attention_dims& d, bool backward) {
  const int64_t queries = int64_t{d.batch} * d.queries * d.heads;
  const int64_t keys = int64_t{d.batch} * d.keys * d.groups;
  const auto q = random_values(queries * d.width);
  const auto k = random_values(keys * d.width);
  const auto v = random_values(keys * d.value_width);
  const auto dy = random_values(queries * d.value_width);
  auto y = random_values(queries * d.value_width);
  auto dq = q;
  auto dk = k;
  auto dv = v;
  std::vector<float> lse(static_cast<size_t>(queries));
  const int threads = pool().threads();
  std::vector<char> workspace(static_cast<size_t>(
      std::max(attention_workspace_bytes(d, threads), attention_grad_workspace_bytes(d, threads))));
  const auto forward = [&] {
    attention_simd(y.data(), lse.data(), nullptr, q.data(), k.data(), v.data(), nullptr,
                   workspace.data(), &d, pool());
  };
  forward();
  for (auto _ : state) {
    if (backward) {
      attention_grad_simd(dq.data(), dk.data(), dv.data(), nullptr, dy.data(), q.data(), k.data(),
                          v.data(), y.data(), lse.data(), nullptr, workspace.data(), &d, pool());
    } else {
      forward();
    }
    benchmark::ClobberMemory();
  }
  const double pairs = static_cast<double>(queries) * d.keys * (d.causal ? 0.5 : 1.0);
  const double products = backward ? 3.0 * d.width + 2.0 * d.value_width : d.width + d.value_width;
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * pairs * products, benchmark::Counter::kIsIterationInvariantRate);
}

void add_attention(const nlohmann::json& layer) {
  attention_dims d{};
  d.batch = layer.at("n");
  d.queries = d.keys = layer.at("t");
  d.heads = layer.at("h");
  d.groups = layer.value("g", d.heads);
  d.width = d.value_width = layer.at("d");
  d.causal = layer.value("causal", false) ? 1 : 0;
  d.scale = 1.0 / std::sqrt(static_cast<double>(d.width));
  const std::string name = layer.at("name");
  for (const bool backward : {false, true}) {
    benchmark::RegisterBenchmark((name + (backward ? "/backward" : "/forward")).c_str(),
                                 run_attention, d, backward)
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond)
        ->ComputeStatistics("min", [](const std::vector<double>& times) {
          return *std::min_element(times.begin(), times.end());
        });
  }
}

// The result of a recurrent layer, or in training the gradients of all its parameters by the mean
// of the squares.
ir::Graph recurrent_step(const nlohmann::json& layer, bool training) {
  Graph g;
  const Value x = g.input("x", {layer.at("t"), layer.at("features")});
  const int64_t units = layer.at("units");
  const int64_t layers = layer.at("layers");
  const bool is_lstm = layer.at("kind") == "lstm";
  const Value y = is_lstm ? lstm(x, {.units = units, .layers = layers}).y
                          : gru(x, {.units = units, .layers = layers}).y;
  if (!training) {
    g.output("y", y);
    return ir::with_batch(g.ir(), layer.at("n"));
  }
  g.minimize(mean(y * y));
  ir::Graph graph = ir::with_batch(g.ir(), layer.at("n"));
  for (const autodiff::Gradient& gradient : autodiff::append_loss_gradients(graph)) {
    graph.outputs.emplace_back(graph.data(gradient.value).name, gradient.gradient);
  }
  return graph;
}

void run_recurrent(benchmark::State& state, const nlohmann::json& layer, bool training) {
  const exec::Program program(recurrent_step(layer, training), {.threads = pool().threads()});
  exec::Store store({&program.graph()});
  store.initialize(1);
  const exec::Block arena(program.plan().arena_bytes);
  exec::Session session(program, store, {arena.data(), static_cast<size_t>(arena.bytes())}, pool());
  const std::span<std::byte> x = session.source("x");
  const auto values = random_values(static_cast<int64_t>(x.size() / sizeof(float)));
  for (auto _ : state) {
    state.PauseTiming();  // the arena may have reused the input's place
    std::memcpy(x.data(), values.data(), x.size());
    state.ResumeTiming();
    if (!session.run()) state.SkipWithError("the loss is not finite");
    benchmark::ClobberMemory();
  }
}

void add_recurrent(const nlohmann::json& layer) {
  const std::string name = layer.at("name");
  for (const bool training : {false, true}) {
    benchmark::RegisterBenchmark((name + (training ? "/training" : "/forward")).c_str(),
                                 run_recurrent, layer, training)
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond)
        ->ComputeStatistics("min", [](const std::vector<double>& times) {
          return *std::min_element(times.begin(), times.end());
        });
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::ifstream file(THIMBLE_BENCH_DIR "/kernels/layers.json");
  const auto layers = nlohmann::json::parse(file);
  for (const auto& layer : layers.at("attention")) add_attention(layer);
  for (const auto& layer : layers.at("recurrent")) add_recurrent(layer);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}

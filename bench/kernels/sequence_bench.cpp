// Times the attention and recurrent layers of layers.json.
#include <thimble/ops.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "autodiff/autodiff.h"
#include "exec/program.h"
#include "kernels/bench.h"
#include "ops/scaled_dot_product_attention/dims.h"
#include "parallel/thread_pool.h"

// Defined in the op's simd.cpp.
namespace thimble::ops::scaled_dot_product_attention_impl {
void attention_simd(float* y, float* lse, const uint32_t* rng, const float* q, const float* k,
                    const float* v, const void* mask, void* workspace, const attention_dims* d,
                    parallel::ThreadPool& pool);
[[nodiscard]] int64_t attention_workspace_bytes(const attention_dims& d, int threads);

void attention_grad_simd(float* dq, float* dk, float* dv, const uint32_t* rng, const float* dy,
                         const float* q, const float* k, const float* v, const float* y,
                         const float* lse, const void* mask, void* workspace,
                         const attention_dims* d, parallel::ThreadPool& pool);
[[nodiscard]] int64_t attention_grad_workspace_bytes(const attention_dims& d, int threads);
}  // namespace thimble::ops::scaled_dot_product_attention_impl

namespace {

using namespace thimble;
using namespace thimble::ops;
using namespace thimble::ops::scaled_dot_product_attention_impl;
using namespace thimble::bench;

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
    add(name + (backward ? "/backward" : "/forward"),
        [=](benchmark::State& state) { run_attention(state, d, backward); });
  }
}

// The result of a recurrent layer, or in training the gradients of the mean square by all its
// parameters.
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
  exec::Session session(program.data(), store, {arena.data(), static_cast<size_t>(arena.bytes())},
                        pool());
  const std::span<std::byte> x = session.source("x");
  const auto values = random_values(static_cast<int64_t>(x.size() / sizeof(float)));
  for (auto _ : state) {
    state.PauseTiming();  // the arena may have reused the memory of the input
    std::memcpy(x.data(), values.data(), x.size());
    state.ResumeTiming();
    if (!session.run()) state.SkipWithError("the loss is not finite");
    benchmark::ClobberMemory();
  }
}

void add_recurrent(const nlohmann::json& layer) {
  const std::string name = layer.at("name");
  for (const bool training : {false, true}) {
    add(name + (training ? "/training" : "/forward"),
        [=](benchmark::State& state) { run_recurrent(state, layer, training); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto all = layers();
  for (const auto& layer : all.at("attention")) add_attention(layer);
  for (const auto& layer : all.at("recurrent")) add_recurrent(layer);
  return run(argc, argv);
}

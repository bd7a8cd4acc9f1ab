// Times the matmul and convolution kernels on the layers of layers.json. A transposed convolution
// is listed as the convolution whose adjoint it is: its forward pass is that one's "data" pass.
// THIMBLE_BENCH_THREADS sets the threads (default 1); the statistic "min" of
// --benchmark_repetitions is the figure to compare on a machine with other work.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "ops/conv2d/dims.h"
#include "ops/conv2d/simd.h"
#include "ops/conv2d_input_grad/simd.h"
#include "ops/conv2d_weight_grad/simd.h"
#include "ops/matmul/simd.h"

namespace {

using thimble::exec::ThreadPool;

ThreadPool& pool() {
  static const char* const threads = std::getenv("THIMBLE_BENCH_THREADS");
  static ThreadPool the_pool(threads ? std::atoi(threads) : 1);
  return the_pool;
}

// As aligned as the buffers of a planned arena, and of PyTorch.
struct Free {
  void operator()(void* p) const { std::free(p); }
};

struct Buffer {
  explicit Buffer(int64_t bytes)
      : memory(static_cast<float*>(
            std::aligned_alloc(64, static_cast<size_t>(bytes + 63) / 64 * 64))) {}
  float* data() { return memory.get(); }
  std::unique_ptr<float, Free> memory;
};

Buffer random_values(int64_t count) {
  std::mt19937 random(1);
  Buffer values(count * 4);
  for (int64_t i = 0; i < count; ++i) {
    values.data()[i] = static_cast<float>(random()) / 4294967296.0f - 0.5f;
  }
  return values;
}

Buffer workspace_of(int64_t bytes) { return Buffer(std::max<int64_t>(bytes, 1)); }

void report(benchmark::State& state, double multiply_adds) {
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * multiply_adds, benchmark::Counter::kIsIterationInvariantRate);
}

void run_matmul(benchmark::State& state, const matmul_dims& d) {
  auto a = random_values(int64_t{d.m} * d.k);
  auto b = random_values(int64_t{d.k} * d.n);
  auto y = random_values(int64_t{d.m} * d.n);
  auto workspace = workspace_of(thimble::ops::matmul_workspace_bytes(d, pool().threads()));
  for (auto _ : state) {
    thimble::ops::matmul_simd(y.data(), a.data(), b.data(), nullptr, workspace.data(), &d, pool());
    benchmark::ClobberMemory();
  }
  report(state, static_cast<double>(d.m) * d.n * d.k);
}

enum class Pass { forward, data, weights };

void run_conv(benchmark::State& state, const conv2d_dims& d, Pass pass) {
  auto x = random_values(int64_t{d.n} * d.h * d.w * d.c);
  auto y = random_values(int64_t{d.n} * d.p * d.q * d.k);
  auto w = random_values(int64_t{d.k} * d.r * d.s * (d.c / d.groups));
  const int threads = pool().threads();
  auto workspace =
      workspace_of(std::max({thimble::ops::conv2d_workspace_bytes(d, threads),
                             thimble::ops::conv2d_input_grad_workspace_bytes(d, threads),
                             thimble::ops::conv2d_weight_grad_workspace_bytes(d, threads)}));
  for (auto _ : state) {
    if (pass == Pass::forward) {
      thimble::ops::conv2d_simd(y.data(), x.data(), w.data(), nullptr, workspace.data(), &d,
                                pool());
    } else if (pass == Pass::data) {
      thimble::ops::conv2d_input_grad_simd(x.data(), y.data(), w.data(), nullptr, workspace.data(),
                                           &d, pool());
    } else {
      thimble::ops::conv2d_weight_grad_simd(w.data(), x.data(), y.data(), workspace.data(), &d,
                                            pool());
    }
    benchmark::ClobberMemory();
  }
  report(state, static_cast<double>(d.n) * d.p * d.q * d.k * d.r * d.s * (d.c / d.groups));
}

matmul_dims matmul_of(const nlohmann::json& layer) {
  matmul_dims d{};
  d.batch = 1;
  d.m = layer.at("m"), d.n = layer.at("n"), d.k = layer.at("k");
  d.transpose_a = layer.value("transpose_a", 0);
  d.transpose_b = layer.value("transpose_b", 0);
  return d;
}

conv2d_dims conv_of(const nlohmann::json& layer) {
  conv2d_dims d{};
  d.n = layer.at("n"), d.h = layer.at("h"), d.w = layer.at("w");
  d.c = layer.at("c"), d.k = layer.at("k"), d.r = d.s = layer.at("r");
  d.stride_h = d.stride_w = layer.value("stride", 1);
  d.pad_top = d.pad_left = layer.at("pad");
  d.dilation_h = d.dilation_w = 1;
  d.groups = layer.value("groups", 1);
  d.p = (d.h + 2 * d.pad_top - d.r) / d.stride_h + 1;
  d.q = (d.w + 2 * d.pad_left - d.s) / d.stride_w + 1;
  return d;
}

void add(const std::string& name, auto body) {
  benchmark::RegisterBenchmark(name.c_str(), body)
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond)
      ->ComputeStatistics("min", [](const std::vector<double>& v) {
        return *std::min_element(v.begin(), v.end());
      });
}

}  // namespace

int main(int argc, char** argv) {
  std::ifstream file(THIMBLE_BENCH_DIR "/kernels/layers.json");
  const auto layers = nlohmann::json::parse(file);
  for (const auto& layer : layers.at("matmul")) {
    add(layer.at("name"),
        [d = matmul_of(layer)](benchmark::State& state) { run_matmul(state, d); });
  }
  for (const auto& layer : layers.at("conv")) {
    const auto d = conv_of(layer);
    const std::string name = layer.at("name");
    const bool transposed = layer.value("transposed", 0) != 0;
    const Pass forward = transposed ? Pass::data : Pass::forward;
    const Pass data = transposed ? Pass::forward : Pass::data;
    add(name + "/forward", [=](benchmark::State& state) { run_conv(state, d, forward); });
    add(name + "/data", [=](benchmark::State& state) { run_conv(state, d, data); });
    add(name + "/weights", [=](benchmark::State& state) { run_conv(state, d, Pass::weights); });
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}

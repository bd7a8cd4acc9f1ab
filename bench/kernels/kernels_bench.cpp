// Times the matmul and convolution kernels on the layers of layers.json. A transposed convolution
// is listed as the convolution whose adjoint it is: its forward pass is the "data" pass of that
// convolution. The counter "fastest" is the time of the fastest call in seconds.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "kernels/bench.h"
#include "ops/families/conv/conv_kernel_dims.h"
#include "ops/families/conv/conv_kernels.h"
#include "ops/matmul/simd.h"
#include "simd/gemm.h"

namespace {

using namespace thimble;
using bench::pool;

// Aligned like the buffers of a planned arena and of PyTorch.
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

Buffer random_buffer(int64_t count) {
  const std::vector<float> values = bench::random_values(count);
  Buffer buffer(count * 4);
  std::copy(values.begin(), values.end(), buffer.data());
  return buffer;
}

Buffer workspace_of(int64_t bytes) { return Buffer(std::max<int64_t>(bytes, 1)); }

void time_calls(benchmark::State& state, double multiply_adds, const auto& call) {
  using Clock = std::chrono::steady_clock;
  Clock::duration fastest = Clock::duration::max();
  for (auto _ : state) {
    const Clock::time_point start = Clock::now();
    call();
    benchmark::ClobberMemory();
    fastest = std::min(fastest, Clock::now() - start);
  }
  state.counters["fastest"] = std::chrono::duration<double>(fastest).count();
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * multiply_adds, benchmark::Counter::kIsIterationInvariantRate);
}

void run_matmul(benchmark::State& state, const matmul_dims& d) {
  auto a = random_buffer(int64_t{d.m} * d.k);
  auto b = random_buffer(int64_t{d.k} * d.n);
  auto y = random_buffer(int64_t{d.m} * d.n);
  auto workspace = workspace_of(ops::matmul_impl::matmul_workspace_bytes(d, pool().threads()));
  time_calls(state, static_cast<double>(d.m) * d.n * d.k, [&] {
    ops::matmul_impl::matmul_simd(y.data(), a.data(), b.data(), nullptr, workspace.data(), &d,
                                  pool());
  });
}

// The same with a matrix of bf16, as frozen weights have.
void run_narrow(benchmark::State& state, const matmul_dims& d) {
  auto a = random_buffer(int64_t{d.m} * d.k);
  const std::vector<uint16_t> b(static_cast<size_t>(d.k) * static_cast<size_t>(d.n), 0x3f80);
  auto y = random_buffer(int64_t{d.m} * d.n);
  simd::GemmSizes sizes;
  sizes.m = d.m, sizes.n = d.n, sizes.k = d.k;
  sizes.transpose_b = d.transpose_b != 0;
  auto workspace = workspace_of(simd::gemm_narrow_workspace_bytes(sizes, pool().threads()));
  time_calls(state, static_cast<double>(d.m) * d.n * d.k, [&] {
    simd::gemm_narrow(y.data(), a.data(), {.data = b.data()}, nullptr, workspace.data(), sizes,
                      pool());
  });
}

enum class Pass { forward, data, weights };

void run_conv(benchmark::State& state, const conv2d_dims& d, Pass pass) {
  auto x = random_buffer(int64_t{d.n} * d.h * d.w * d.c);
  auto y = random_buffer(int64_t{d.n} * d.p * d.q * d.k);
  auto w = random_buffer(int64_t{d.k} * d.r * d.s * (d.c / d.groups));
  const int threads = pool().threads();
  auto workspace = workspace_of(
      std::max({ops::conv2d_impl::conv2d_workspace_bytes(d, threads),
                ops::conv2d_input_grad_impl::conv2d_input_grad_workspace_bytes(d, threads),
                ops::conv2d_weight_grad_impl::conv2d_weight_grad_workspace_bytes(d, threads)}));
  const double work = static_cast<double>(d.n) * d.p * d.q * d.k * d.r * d.s * (d.c / d.groups);
  time_calls(state, work, [&] {
    if (pass == Pass::forward) {
      ops::conv2d_impl::conv2d_simd(y.data(), x.data(), w.data(), nullptr, workspace.data(), &d,
                                    pool());
    } else if (pass == Pass::data) {
      ops::conv2d_input_grad_impl::conv2d_input_grad_simd(x.data(), y.data(), w.data(), nullptr,
                                                          workspace.data(), &d, pool());
    } else {
      ops::conv2d_weight_grad_impl::conv2d_weight_grad_simd(w.data(), x.data(), y.data(),
                                                            workspace.data(), &d, pool());
    }
  });
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

}  // namespace

int main(int argc, char** argv) {
  const auto layers = bench::layers();
  for (const auto& layer : layers.at("matmul")) {
    bench::add(layer.at("name"),
               [d = matmul_of(layer)](benchmark::State& state) { run_matmul(state, d); });
    if (layer.at("m") != 1) continue;
    bench::add(layer.at("name").get<std::string>() + "/bf16",
               [d = matmul_of(layer)](benchmark::State& state) { run_narrow(state, d); });
  }
  for (const auto& layer : layers.at("conv")) {
    const auto d = conv_of(layer);
    const std::string name = layer.at("name");
    const bool transposed = layer.value("transposed", 0) != 0;
    const Pass forward = transposed ? Pass::data : Pass::forward;
    const Pass data = transposed ? Pass::forward : Pass::data;
    bench::add(name + "/forward", [=](benchmark::State& state) { run_conv(state, d, forward); });
    bench::add(name + "/data", [=](benchmark::State& state) { run_conv(state, d, data); });
    bench::add(name + "/weights",
               [=](benchmark::State& state) { run_conv(state, d, Pass::weights); });
  }
  return bench::run(argc, argv);
}

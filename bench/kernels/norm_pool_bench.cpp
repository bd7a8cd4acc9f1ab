// Times batch normalization and pooling on the layers of layers.json.

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/bench.h"
#include "ops/families/norm/batch_norm_kernels.h"
#include "ops/families/pool/pool_kernels.h"

namespace {

using namespace thimble;
using namespace thimble::ops;
using namespace thimble::ops::average_pool2d_impl;
using namespace thimble::ops::batch_norm_impl;
using namespace thimble::ops::batch_norm_grad_impl;
using namespace thimble::ops::batch_norm_inference_impl;
using namespace thimble::ops::max_pool2d_impl;
using namespace thimble::bench;

enum class Pass { forward, backward, inference };

void run_norm(benchmark::State& state, const batch_norm_dims& d, Pass pass) {
  const int64_t values = int64_t{d.rows} * d.channels;
  const auto x = random_values(values);
  auto y = random_values(values);
  const std::vector<float> ones(static_cast<size_t>(d.channels), 1.0f);
  std::vector<float> a = ones;
  std::vector<float> b = ones;
  const int threads = pool().threads();
  std::vector<char> workspace(static_cast<size_t>(
      std::max({batch_norm_workspace_bytes(d, threads), batch_norm_grad_workspace_bytes(d, threads),
                batch_norm_inference_workspace_bytes(d)})));
  const float* one = ones.data();
  for (auto _ : state) {
    if (pass == Pass::forward) {
      batch_norm_simd(y.data(), a.data(), b.data(), x.data(), one, one, one, one, workspace.data(),
                      &d, pool());
    } else if (pass == Pass::backward) {
      batch_norm_grad_simd(y.data(), a.data(), b.data(), x.data(), x.data(), one, one, one,
                           workspace.data(), &d, pool());
    } else {
      batch_norm_inference_simd(y.data(), x.data(), one, one, one, one, workspace.data(), &d,
                                pool());
    }
    benchmark::ClobberMemory();
  }
}

enum class Kind { max, average };

void run_pool(benchmark::State& state, const pool_dims& d, Kind kind, Pass pass) {
  auto x = random_values(int64_t{d.n} * d.h * d.w * d.c);
  auto y = random_values(int64_t{d.n} * d.p * d.q * d.c);
  std::vector<uint8_t> index(y.size());
  max_pool2d_simd(y.data(), index.data(), x.data(), &d, pool());
  for (auto _ : state) {
    if (kind == Kind::max && pass == Pass::forward) {
      max_pool2d_simd(y.data(), index.data(), x.data(), &d, pool());
    } else if (kind == Kind::max) {
      max_pool2d_grad_simd(x.data(), y.data(), index.data(), &d, pool());
    } else if (pass == Pass::forward) {
      average_pool2d_simd(y.data(), x.data(), &d, pool());
    } else {
      average_pool2d_grad_simd(x.data(), y.data(), &d, pool());
    }
    benchmark::ClobberMemory();
  }
}

batch_norm_dims norm_of(const nlohmann::json& layer) {
  batch_norm_dims d{};
  d.rows = layer.at("n").get<int>() * layer.at("h").get<int>() * layer.at("w").get<int>();
  d.channels = layer.at("c");
  d.epsilon = 1e-5f;
  return d;
}

pool_dims pool_of(const nlohmann::json& layer) {
  pool_dims d{};
  d.n = layer.at("n"), d.h = layer.at("h"), d.w = layer.at("w"), d.c = layer.at("c");
  d.r = d.s = layer.at("r");
  d.stride_h = d.stride_w = layer.at("stride");
  d.pad_top = d.pad_left = layer.value("pad", 0);
  d.p = (d.h + 2 * d.pad_top - d.r) / d.stride_h + 1;
  d.q = (d.w + 2 * d.pad_left - d.s) / d.stride_w + 1;
  d.count_include_pad = 1;
  return d;
}

}  // namespace

int main(int argc, char** argv) {
  const auto layers = bench::layers();
  for (const auto& layer : layers.at("batch_norm")) {
    const std::string name = layer.at("name");
    const auto d = norm_of(layer);
    add(name + "/forward", [=](benchmark::State& s) { run_norm(s, d, Pass::forward); });
    add(name + "/backward", [=](benchmark::State& s) { run_norm(s, d, Pass::backward); });
    add(name + "/inference", [=](benchmark::State& s) { run_norm(s, d, Pass::inference); });
  }
  for (const auto& layer : layers.at("pool")) {
    const auto d = pool_of(layer);
    for (const Kind kind : {Kind::max, Kind::average}) {
      const std::string name =
          layer.at("name").get<std::string>() + (kind == Kind::max ? "/max" : "/average");
      add(name + "/forward", [=](benchmark::State& s) { run_pool(s, d, kind, Pass::forward); });
      add(name + "/backward", [=](benchmark::State& s) { run_pool(s, d, kind, Pass::backward); });
    }
  }
  return bench::run(argc, argv);
}

// Shared by the benchmarks of kernels. THIMBLE_BENCH_THREADS sets the threads (default 1). On a
// machine with other load, compare the statistic "min" of --benchmark_repetitions.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "parallel/thread_pool.h"

namespace thimble::bench {

inline parallel::ThreadPool& pool() {
  static const char* const threads = std::getenv("THIMBLE_BENCH_THREADS");
  static parallel::ThreadPool the_pool(threads ? std::atoi(threads) : 1);
  return the_pool;
}

// Values in [-0.5, 0.5), the same ones each time.
inline std::vector<float> random_values(int64_t count) {
  std::mt19937 random(1);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = static_cast<float>(random()) / 4294967296.0f - 0.5f;
  return values;
}

inline void add(const std::string& name, auto body) {
  benchmark::RegisterBenchmark(name.c_str(), body)
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond)
      ->ComputeStatistics("min", [](const std::vector<double>& times) {
        return *std::min_element(times.begin(), times.end());
      });
}

// The layers that are also used in the comparisons with PyTorch.
inline nlohmann::json layers() {
  std::ifstream file(THIMBLE_BENCH_DIR "/kernels/layers.json");
  return nlohmann::json::parse(file);
}

// The end of main(): runs the registered benchmarks.
inline int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace thimble::bench

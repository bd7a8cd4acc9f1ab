// Packs problems and prints a table: the public ones of MiniMalloc (in THIMBLE_DATA/minimalloc),
// one of 20,000 random buffers, and the training steps of our recipes. Seconds are the fastest of
// three.
#include <fmt/format.h>
#include <thimble/thimble.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "io/atomic_file.h"
#include "io/pack_csv/pack_csv.h"
#include "plan/arena.h"
#include "plan/pack/pack.h"

namespace {

using thimble::plan::Buffer;
using thimble::plan::Packing;

constexpr int kRepetitions = 3;

double percent_above(int64_t peak, int64_t bound) {
  return bound == 0 ? 0.0 : 100.0 * (static_cast<double>(peak) / static_cast<double>(bound) - 1.0);
}

void report(const std::string& name, const std::vector<Buffer>& buffers) {
  const Packing greedy = thimble::plan::pack(buffers, {.steps = 0});
  Packing packing;
  double fastest = 1e9;
  for (int i = 0; i < kRepetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    packing = thimble::plan::pack(buffers);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    fastest = std::min(fastest, seconds.count());
  }
  thimble::plan::check(buffers, packing);
  fmt::print("| {} | {} | {} | {:.2f} % | {} | {:.2f} % | {:.0f} | {:.4f} |\n", name,
             buffers.size(), packing.lower_bound_bytes,
             percent_above(greedy.peak_bytes, greedy.lower_bound_bytes), packing.peak_bytes,
             percent_above(packing.peak_bytes, packing.lower_bound_bytes),
             static_cast<double>(packing.steps) / 1e6, fastest);
}

void report_minimalloc(const std::string& folder) {
  constexpr size_t kMostBytes = size_t{1} << 20;
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".csv") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    const auto table = thimble::io::parse_pack_csv(path, thimble::io::read_file(path, kMostBytes));
    report(std::filesystem::path(path).stem(), table.buffers);
  }
}

// Times from 0 to 100,000; four of five buffers live about 200, the others 5,000; sizes from 64 B
// to 1 MiB, uniform in magnitude.
std::vector<Buffer> random_buffers(int count) {
  std::mt19937_64 random(1);
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<Buffer> buffers;
  for (int i = 0; i < count; ++i) {
    const auto lower = static_cast<int64_t>(100'000 * uniform());
    const double mean = uniform() < 0.8 ? 200 : 5000;
    const auto length = static_cast<int64_t>(-mean * std::log(1.0 - uniform())) + 1;
    const auto size = static_cast<int64_t>(std::exp2(6 + 14 * uniform()));
    buffers.push_back({lower, lower + length, thimble::plan::aligned(size)});
  }
  return buffers;
}

void report_recipe(const thimble::Recipe& recipe) {
  const thimble::Trainer trainer(recipe.build(),
                                 {.optimizer = recipe.optimizer(), .batch = recipe.batch});
  std::vector<Buffer> buffers;
  for (const thimble::PlanBuffer& b : trainer.plan().buffers) {
    buffers.push_back({b.birth, b.death, b.bytes, thimble::plan::kAlignment});
  }
  report(fmt::format("{}, batch {}", recipe.name, recipe.batch), buffers);
}

}  // namespace

int main() {
  fmt::print(
      "| problem | buffers | bound, B | greedy above it | peak, B | above it | million steps | "
      "seconds |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  if (const char* data = std::getenv("THIMBLE_DATA")) {
    report_minimalloc(std::string(data) + "/minimalloc");
  }
  report("20,000 random buffers", random_buffers(20'000));
  for (const thimble::Recipe& recipe : thimble::recipes()) report_recipe(recipe);
  return 0;
}

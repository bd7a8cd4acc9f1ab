// Memory that a training of thimble holds; the counterpart of held.py.
#pragma once

#include <thimble/thimble.h>

#include <nlohmann/json.hpp>
#include <string>

namespace thimble::bench {

struct MemoryRun {
  const Recipe& recipe;
  std::string samples;  // a file of write_samples
  TrainerOptions options;
  int64_t steps;
  double seconds;  // stops earlier after that time
  bool plan_only;  // makes the plan and takes no step
};

// Plan, bytes held and time of some steps. With count_malloc.so in LD_PRELOAD it counts the bytes
// that malloc handed out since before the model was built, without the samples.
[[nodiscard]] nlohmann::ordered_json measure_memory(const MemoryRun& run);

// The training samples of a file of write_samples; pixels stay bytes until they are read.
[[nodiscard]] data::Dataset read_samples(const std::string& path, const Recipe& recipe);

// Median and minimum of the step times in milliseconds, without the first steps.
void add_times(nlohmann::ordered_json& json, std::vector<double> step_ms);

// Peak resident memory of the process.
[[nodiscard]] int64_t peak_rss_bytes();

}  // namespace thimble::bench

#include "twin_memory.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>

#include "io/safetensors/safetensors.h"
#include "train/state.h"

namespace thimble::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kWarmUpSteps =
    50;  // the first steps touch fresh memory; if there are few steps, a quarter of them

// A counter of count_malloc.c if it is preloaded; else zero.
int64_t count_malloc(const char* what) {
  using Count = long (*)();
  const auto count = reinterpret_cast<Count>(dlsym(RTLD_DEFAULT, what));
  return count == nullptr ? 0 : count();
}

void reset_malloc_peak() {
  using Reset = void (*)();
  const auto reset = reinterpret_cast<Reset>(dlsym(RTLD_DEFAULT, "count_malloc_reset_peak"));
  if (reset != nullptr) reset();
}

std::vector<std::string> listed(const std::string& names) {
  std::vector<std::string> result;
  for (size_t at = 0; at < names.size();) {
    const size_t end = std::min(names.find(',', at), names.size());
    result.push_back(names.substr(at, end - at));
    at = end + 1;
  }
  return result;
}

// Bytes that are live between forward and backward.
int64_t saved_bytes(const Trainer& trainer) {
  const train::State& state = const_cast<Trainer&>(trainer).state();
  const exec::Program& program = *state.runner.at(state.update_key()).program;
  const int loss = program.graph().data(*program.graph().loss).producer;
  int64_t bytes = 0;
  for (const PlanBuffer& buffer : program.plan().buffers) {
    if (buffer.birth <= loss && buffer.death > loss + 1) bytes += buffer.bytes;
  }
  return bytes;
}

nlohmann::ordered_json strategies_of(const Plan& plan) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const PlanStrategy& strategy : plan.strategies) {
    list.push_back({{"name", strategy.name},
                    {"detail", strategy.detail},
                    {"saved_bytes", strategy.saved_bytes},
                    {"extra_flops", strategy.extra_flops},
                    {"extra_io_bytes", strategy.extra_io_bytes},
                    {"predicted_ms", strategy.predicted_ms}});
  }
  return list;
}

nlohmann::ordered_json described(const Plan& plan) {
  return {{"fits", plan.fits},
          {"nearest_feasible_bytes", plan.nearest_feasible_bytes},
          {"planned_peak_bytes", plan.planned_peak_bytes},
          {"parameter_bytes", plan.parameter_bytes},
          {"state_bytes", plan.state_bytes},
          {"constant_bytes", plan.constant_bytes},
          {"padding_bytes", plan.padding_bytes},
          {"arena_bytes", plan.arena_bytes},
          {"staging_bytes", plan.staging_bytes},
          {"pipeline_planned_bytes", plan.input_pipeline_bytes},
          {"micro_batches", plan.micro_batches},
          {"swap_planned_bytes", plan.swap_read_bytes + plan.swap_written_bytes},
          {"predicted_step_ms", plan.step_ms},
          {"predicted_busy_ms", plan.swap_busy_ms},
          {"predicted_stall_ms", plan.swap_stall_ms},
          {"strategies", strategies_of(plan)}};
}

// The times of steps after the first ones, in ascending order.
std::vector<double> settled(std::vector<double> values) {
  const auto few = static_cast<int64_t>(values.size()) / 4;
  values.erase(values.begin(), values.begin() + std::min(kWarmUpSteps, few));
  if (values.empty()) throw Error("steps", "none was taken");
  std::sort(values.begin(), values.end());
  return values;
}

double settled_median(std::vector<double> values) {
  values = settled(std::move(values));
  return values[values.size() / 2];
}

}  // namespace

void add_times(nlohmann::ordered_json& json, std::vector<double> step_ms) {
  step_ms = settled(std::move(step_ms));
  json["ms_per_step"] = step_ms[step_ms.size() / 2];
  json["ms_fastest"] = step_ms.front();
}

// getrusage is not used, because its figure is at least that of the parent process.
int64_t peak_rss_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib * 1024;
  }
  return 0;
}

data::Dataset read_samples(const std::string& path, const Recipe& recipe) {
  struct Part {
    const io::TensorView* tensor;
    int64_t bytes;    // of one sample as it is stored
    bool are_pixels;  // stored as bytes, read as shares of 255
  };
  const auto file = std::make_shared<const io::Safetensors>(io::Safetensors::read(
      path, [](std::string_view name) { return name.substr(0, 6) == "train."; }));
  const std::vector<std::string> pixels = listed(file->meta("bytes"));
  const Graph model = recipe.build();
  std::vector<data::Field> fields;
  std::vector<Part> parts;
  int64_t count = 0;
  for (const std::string& name : listed(file->meta("fields"))) {
    const io::TensorView* const tensor = file->find("train." + name);
    if (tensor == nullptr) throw Error(path, "lacks the field " + name);
    count = tensor->shape[0];
    const bool are_pixels = std::find(pixels.begin(), pixels.end(), name) != pixels.end();
    const auto& dims = tensor->shape.dims();
    const Shape sample(std::vector<int64_t>(dims.begin() + 1, dims.end()));
    const bool is_label = std::any_of(model.ir().values.begin(), model.ir().values.end(),
                                      [&name](const ir::ValueData& data) {
                                        return data.name == name && data.role == ir::Role::label;
                                      });
    fields.push_back({name, sample, are_pixels ? DType::f32 : tensor->dtype, is_label});
    parts.push_back({tensor, size_bytes(tensor->dtype, sample), are_pixels});
  }
  return data::generator(count, fields, [file, parts](int64_t index, std::span<void* const> out) {
    for (size_t f = 0; f < parts.size(); ++f) {
      const std::byte* const from = parts[f].tensor->bytes.data() + index * parts[f].bytes;
      if (!parts[f].are_pixels) {
        std::memcpy(out[f], from, static_cast<size_t>(parts[f].bytes));
        continue;
      }
      auto* const to = static_cast<float*>(out[f]);
      for (int64_t i = 0; i < parts[f].bytes; ++i) {
        to[i] = static_cast<float>(std::to_integer<int>(from[i])) / 255.0F;
      }
    }
  });
}

nlohmann::ordered_json measure_memory(const MemoryRun& run) {
  if (run.plan_only) return described(train::State(run.recipe.build().ir(), run.options).plan());
  const data::Dataset samples = read_samples(run.samples, run.recipe);
  reset_malloc_peak();
  const int64_t before = count_malloc("count_malloc_live");
  Trainer trainer(run.recipe.build(), run.options);
  const int64_t compiling = count_malloc("count_malloc_peak") - before;
  reset_malloc_peak();
  std::vector<double> step_ms;
  std::vector<double> busy_ms;
  std::vector<double> stall_ms;
  std::vector<double> expected_ms;
  for (auto* const values : {&step_ms, &busy_ms, &stall_ms, &expected_ms}) {
    values->reserve(static_cast<size_t>(run.steps));
  }
  const auto end = Clock::now() + std::chrono::duration<double>(run.seconds);
  FitOptions fit{.epochs = run.steps, .prefetch = 0};  // train.py, too, reads data between steps
  fit.on_step = [&](const StepReport& step) {
    step_ms.push_back(step.milliseconds);
    busy_ms.push_back(step.swap_busy_ms);
    stall_ms.push_back(step.swap_stall_ms);
    expected_ms.push_back(step.swap_expected_stall_ms);
  };
  fit.stop = [&] {
    return static_cast<int64_t>(step_ms.size()) >= run.steps || Clock::now() >= end;
  };
  const FitResult result = trainer.fit(samples, fit);
  const int64_t training = count_malloc("count_malloc_peak") - before;
  nlohmann::ordered_json json = described(trainer.plan());
  add_times(json, step_ms);
  const auto steps = static_cast<double>(step_ms.size());
  json["steps"] = step_ms.size();
  json["saved_bytes"] = saved_bytes(trainer);
  json["allocated_compiling_bytes"] = compiling;
  json["allocated_training_bytes"] = training;
  json["allocated_peak_bytes"] = std::max(compiling, training);
  json["peak_rss_bytes"] = peak_rss_bytes();
  json["input_pipeline_bytes"] = result.input_pipeline_bytes;
  json["measured_peak_bytes"] = result.measured_peak_bytes;
  json["swap_bytes"] =
      static_cast<double>(result.swap_read_bytes + result.swap_written_bytes) / steps;
  json["swap_busy_ms"] = settled_median(std::move(busy_ms));
  json["swap_stall_ms"] = settled_median(std::move(stall_ms));
  json["expected_stall_ms"] = settled_median(std::move(expected_ms));
  return json;
}

}  // namespace thimble::bench

#include "io/html/plan_data.h"

#include <cmath>
#include <string>
#include <unordered_map>

namespace thimble::io {
namespace {

using nlohmann::ordered_json;

// Distinct texts, in the order of their first use.
class Texts {
 public:
  size_t number(const std::string& text) {
    const auto [place, is_new] = numbers_.try_emplace(text, numbers_.size());
    if (is_new) list_.push_back(text);
    return place->second;
  }
  [[nodiscard]] const ordered_json& list() const { return list_; }

 private:
  std::unordered_map<std::string, size_t> numbers_;
  ordered_json list_ = ordered_json::array();
};

ordered_json finite(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(0.0);
}

ordered_json empty_columns(std::initializer_list<const char*> names) {
  ordered_json columns = ordered_json::object();
  for (const char* const name : names) columns[name] = ordered_json::array();
  return columns;
}

void add_buffers(const Plan& plan, ordered_json& data) {
  Texts names, roles, shapes;
  ordered_json columns =
      empty_columns({"name", "role", "shape", "bytes", "offset", "birth", "life"});
  ordered_json recomputed = ordered_json::array(), fetched = ordered_json::array();
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const PlanBuffer& buffer = plan.buffers[i];
    columns["name"].push_back(names.number(buffer.name));
    columns["role"].push_back(roles.number(buffer.role));
    columns["shape"].push_back(
        shapes.number(to_string(buffer.shape) + " " + to_string(buffer.dtype)));
    columns["bytes"].push_back(buffer.bytes);
    columns["offset"].push_back(buffer.offset);
    columns["birth"].push_back(buffer.birth);
    columns["life"].push_back(buffer.death - buffer.birth);
    if (buffer.made == Made::recomputed) recomputed.push_back(i);
    if (buffer.made == Made::fetched) fetched.push_back(i);
  }
  data["names"] = names.list();
  data["roles"] = roles.list();
  data["shapes"] = shapes.list();
  data["buffers"] = std::move(columns);
  data["recomputed"] = std::move(recomputed);
  data["fetched"] = std::move(fetched);
}

void add_steps(const Plan& plan, ordered_json& data) {
  Texts ops, layers;
  ordered_json columns = empty_columns({"op", "layer", "live"});
  for (const PlanStep& step : plan.steps) {
    columns["op"].push_back(ops.number(step.op));
    columns["layer"].push_back(layers.number(step.layer));
    columns["live"].push_back(step.live_bytes);
  }
  data["ops"] = ops.list();
  data["layers"] = layers.list();
  data["steps"] = std::move(columns);
}

ordered_json strategies(const Plan& plan) {
  ordered_json list = ordered_json::array();
  for (const PlanStrategy& strategy : plan.strategies) {
    list.push_back({{"name", strategy.name},
                    {"detail", strategy.detail},
                    {"saved", strategy.saved_bytes},
                    {"left", strategy.left_bytes},
                    {"flops", finite(strategy.extra_flops)},
                    {"io", strategy.extra_io_bytes},
                    {"ms", finite(strategy.predicted_ms)},
                    {"lossless", strategy.lossless}});
  }
  return list;
}

}  // namespace

ordered_json plan_data(const Plan& plan) {
  ordered_json data{{"peak", plan.planned_peak_bytes},
                    {"bound", plan.lower_bound_bytes},
                    {"batch", plan.batch},
                    {"micro", plan.micro_batches},
                    {"parameters", plan.parameter_bytes},
                    {"state", plan.state_bytes},
                    {"inFile", plan.in_file_bytes},
                    {"constants", plan.constant_bytes},
                    {"staging", plan.staging_bytes},
                    {"pipeline", plan.input_pipeline_bytes},
                    {"reserved", plan.reserved_bytes},
                    {"arena", plan.arena_bytes},
                    {"budget", plan.budget_bytes},
                    {"fits", plan.fits},
                    {"nearest", plan.nearest_feasible_bytes},
                    {"stepMs", finite(plan.step_ms)},
                    {"swapRead", plan.swap_read_bytes},
                    {"swapWritten", plan.swap_written_bytes},
                    {"swapBusy", finite(plan.swap_busy_ms)},
                    {"swapStall", finite(plan.swap_stall_ms)},
                    {"peakStep", plan.peak_step},
                    {"strategies", strategies(plan)}};
  add_buffers(plan, data);
  add_steps(plan, data);
  return data;
}

}  // namespace thimble::io

#include "plan/budget/strategies.h"

#include "plan/lifetimes.h"
#include "plan/remat/storage.h"
#include "plan/text_parts.h"
#include "plan/work.h"

namespace thimble::plan {
namespace {

constexpr const char* kSwap = "swap";

// Floating-point operations; at least one for every element of the output.
double operations_of(const ir::Graph& graph, const ir::Node& node) {
  if (!node.op->memory.views.empty()) return 0.0;
  const double flops = flops_of(graph, node);
  return flops > 0.0 ? flops : static_cast<double>(graph.type(node.outputs[0]).shape.elements());
}

}  // namespace

int64_t unshared_bytes(const ir::Graph& graph, const ArenaOptions& options) {
  ArenaOptions not_in_place = options;
  not_in_place.in_place = false;
  const Plan plan = plan_arena(graph, not_in_place).plan;
  int64_t bytes = plan.planned_peak_bytes - plan.arena_bytes;
  for (const PlanBuffer& buffer : plan.buffers) bytes += aligned(buffer.bytes);
  return bytes;
}

PlanStrategy& Strategies::row(const std::string& name, int64_t left_bytes) {
  const int64_t saved = list_.empty() ? 0 : list_.back().left_bytes - left_bytes;
  list_.push_back({.name = name, .saved_bytes = saved, .left_bytes = left_bytes});
  return list_.back();
}

void Strategies::start(const ir::Graph& graph) {
  ms_ = times_.of(graph);
  ArenaOptions not_in_place = options_;
  not_in_place.in_place = false;
  row("own memory for every value", unshared_bytes(graph, options_));
  row("memory reuse", plan_arena(graph, not_in_place).plan.planned_peak_bytes);
  row("in place", plan_arena(graph, options_).plan.planned_peak_bytes);
}

void Strategies::add(const std::string& name, const ir::Graph& graph) {
  const int64_t left = plan_arena(graph, options_).plan.planned_peak_bytes;
  const double ms = times_.of(graph);
  int64_t values = 0;
  double flops = 0.0;
  std::set<std::string> recomputed;
  for (const ir::Node& node : graph.nodes) {
    if (node.outputs.empty() || !graph.data(node.outputs[0]).recomputed) continue;
    const std::string value = ir::label(graph.data(node.outputs[0]));
    recomputed.insert(value);
    if (recomputed_.count(value) > 0) continue;
    ++values;
    flops += operations_of(graph, node);
  }
  if (left == list_.back().left_bytes) return;  // its cost is added to the next row
  PlanStrategy& strategy = row(name, left);
  if (values > 0) strategy.detail = plural(values, "value");
  strategy.extra_flops = flops;
  strategy.predicted_ms = recomputed.empty() ? 0.0 : ms - ms_;
  ms_ = ms;
  recomputed_ = std::move(recomputed);
}

void Strategies::add_lossy(const std::string& name, const ir::Graph& graph) {
  const size_t before = list_.size();
  const double ms = ms_;
  add(name, graph);
  // Results may change even if the peak does not fall.
  if (list_.size() == before) row(name, list_.back().left_bytes);
  PlanStrategy& strategy = list_.back();
  const auto stored = static_cast<int64_t>(stored_as(graph, ir::Storage::bits16).size());
  strategy.lossless = stored == 0;
  strategy.predicted_ms = ms_ - ms;
  if (stored > 0) {
    strategy.detail = plural(stored, "value");
  } else if (strategy.saved_bytes == 0) {
    strategy.detail = "none found of 4 KiB and more that lowers the peak; nothing is changed";
  }
}

void predict_as_rehearsed(Plan& plan, const Rehearsal& rehearsal) {
  plan.step_ms = rehearsal.step_ms;
  plan.swap_busy_ms = rehearsal.busy_ms;
  plan.swap_stall_ms = rehearsal.stall_ms;
  for (PlanStrategy& strategy : plan.strategies) {
    if (strategy.name == kSwap) strategy.predicted_ms = rehearsal.stall_ms;
  }
}

void Strategies::add_swap(const Plan& plan, int64_t values, double stall_ms) {
  PlanStrategy& strategy = row(kSwap, plan.planned_peak_bytes);
  strategy.detail = plural(values, "value");
  strategy.extra_io_bytes = plan.swap_read_bytes + plan.swap_written_bytes;
  strategy.predicted_ms = stall_ms;
}

}  // namespace thimble::plan

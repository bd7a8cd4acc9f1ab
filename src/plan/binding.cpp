#include "plan/binding.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/nth.h"
#include "plan/text_parts.h"

namespace thimble::plan {
namespace {

constexpr size_t kNamedBuffers = 3;

}  // namespace

std::vector<const PlanBuffer*> binding_buffers(const Plan& plan) {
  std::vector<const PlanBuffer*> alive;
  for (const PlanBuffer& buffer : plan.buffers) {
    if (buffer.birth <= plan.peak_step && plan.peak_step < buffer.death) alive.push_back(&buffer);
  }
  std::stable_sort(alive.begin(), alive.end(),
                   [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  return alive;
}

std::string binding_op(const Plan& plan) {
  const PlanStep& peak = nth(plan.steps, plan.peak_step);
  return fmt::format("{} of {}", peak.op, peak.layer.empty() ? "the training step" : peak.layer);
}

std::string binding_text(const Plan& plan) {
  if (plan.steps.empty()) return "peak at the parameters";
  std::string text = "peak at " + binding_op(plan);
  const std::vector<const PlanBuffer*> alive = binding_buffers(plan);
  const size_t shown = std::min(alive.size(), kNamedBuffers);
  for (size_t i = 0; i < shown; ++i) {
    const char* const before = i == 0 ? ", with " : i + 1 < shown ? ", " : " and ";
    text += fmt::format("{}{} ({} B)", before, alive[i]->name, grouped(alive[i]->bytes));
  }
  return text;
}

std::string no_swap_text(const Plan& plan) {
  return plan.no_swap.empty() ? std::string() : fmt::format("No swap file: {}. ", plan.no_swap);
}

std::string smaller_ways(const Plan& plan) {
  return plan.batch > 1 ? "take a smaller batch" : "take a smaller model";
}

}  // namespace thimble::plan

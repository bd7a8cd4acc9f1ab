#include "plan/binding.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/text_parts.h"

namespace thimble::plan {

std::vector<const PlanBuffer*> binding_buffers(const Plan& plan) {
  std::vector<const PlanBuffer*> alive;
  for (const PlanBuffer& buffer : plan.buffers) {
    if (buffer.birth <= plan.peak_step && plan.peak_step < buffer.death) alive.push_back(&buffer);
  }
  std::stable_sort(alive.begin(), alive.end(),
                   [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  return alive;
}

std::string binding_text(const Plan& plan, int largest_buffers) {
  if (plan.steps.empty()) return "fullest at the parameters";
  const PlanStep& peak = plan.steps[static_cast<size_t>(plan.peak_step)];
  std::string text = fmt::format("fullest at {} of {}", peak.op,
                                 peak.layer.empty() ? "the training step" : peak.layer);
  const std::vector<const PlanBuffer*> alive = binding_buffers(plan);
  const size_t shown = std::min(alive.size(), static_cast<size_t>(std::max(largest_buffers, 0)));
  for (size_t i = 0; i < shown; ++i) {
    const char* const before = i == 0 ? ", with " : i + 1 < shown ? ", " : " and ";
    text += fmt::format("{}{} ({} B)", before, alive[i]->name, grouped(alive[i]->bytes));
  }
  return text;
}

}  // namespace thimble::plan

#include <fmt/format.h>
#include <thimble/plan.h>

#include <algorithm>
#include <ostream>
#include <string_view>

namespace thimble {
namespace {

// 1234567 -> "1,234,567"
std::string grouped(int64_t number) {
  const std::string digits = fmt::format("{}", number);
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0 && digits[i - 1] != '-') out += ',';
    out += digits[i];
  }
  return out;
}

}  // namespace

std::string format_bytes(int64_t bytes) {
  constexpr double kKiB = 1024.0;
  const double value = static_cast<double>(bytes);
  if (bytes < 1024) return fmt::format("{} B", bytes);
  if (value < kKiB * kKiB) return fmt::format("{:.2f} KiB ({} B)", value / kKiB, grouped(bytes));
  if (value < kKiB * kKiB * kKiB) {
    return fmt::format("{:.2f} MiB ({} B)", value / kKiB / kKiB, grouped(bytes));
  }
  return fmt::format("{:.2f} GiB ({} B)", value / kKiB / kKiB / kKiB, grouped(bytes));
}

std::string Plan::text(int largest_buffers) const {
  std::string out;
  const auto row = [&out](std::string_view what, int64_t bytes) {
    out += fmt::format("  {:<34}{:>14} B\n", what, grouped(bytes));
  };
  out += fmt::format("planned peak of a step, batch {}: {}\n", batch,
                     format_bytes(planned_peak_bytes));
  row("parameters", parameter_bytes);
  row("state (moments, running statistics)", state_bytes);
  if (saved_state_bytes > 0) row("  saved by keeping 8 bits", saved_state_bytes);
  row("constants", constant_bytes);
  row("their padding to cache lines", padding_bytes);
  row("arena (activations to workspaces)", arena_bytes);
  out += fmt::format("  lower bound for this order: {} B, packed {:.2f} % above it\n",
                     grouped(lower_bound_bytes),
                     lower_bound_bytes == 0 ? 0.0
                                            : 100.0 * static_cast<double>(planned_peak_bytes) /
                                                      static_cast<double>(lower_bound_bytes) -
                                                  100.0);
  if (steps.empty()) return out;
  const PlanStep& peak = steps[static_cast<size_t>(peak_step)];
  out += fmt::format("fullest at step {} of {}: {} of {}\n", peak_step + 1, steps.size(), peak.op,
                     peak.layer.empty() ? "the training step" : peak.layer);
  std::vector<const PlanBuffer*> alive;
  for (const PlanBuffer& buffer : buffers) {
    if (buffer.birth <= peak_step && peak_step < buffer.death) alive.push_back(&buffer);
  }
  std::stable_sort(alive.begin(), alive.end(),
                   [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  const size_t shown = std::min(alive.size(), static_cast<size_t>(std::max(largest_buffers, 0)));
  for (size_t i = 0; i < shown; ++i) {
    out += fmt::format("  {:>14} B  {:<11} {} {}\n", grouped(alive[i]->bytes), alive[i]->role,
                       alive[i]->name, to_string(alive[i]->shape));
  }
  if (shown < alive.size()) out += fmt::format("  and {} smaller ones\n", alive.size() - shown);
  return out;
}

std::ostream& operator<<(std::ostream& out, const Plan& plan) { return out << plan.text(); }

}  // namespace thimble

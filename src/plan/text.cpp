#include <fmt/format.h>
#include <thimble/plan.h>

#include <algorithm>
#include <ostream>
#include <string_view>

#include "plan/binding.h"
#include "plan/text_parts.h"

namespace thimble {
namespace {

using plan::grouped;
using plan::plural;
using plan::short_bytes;
using plan::short_flops;
using plan::short_time;
using plan::wrapped;

constexpr size_t kNameColumns = 38;  // width of a strategy's name

std::string totals(const Plan& plan) {
  std::string out = fmt::format(
      "planned peak of a step, batch {}{}: {}\n", plan.batch,
      plan.micro_batches > 1 ? fmt::format(" in {} micro-batches", grouped(plan.micro_batches))
                             : std::string(),
      format_bytes(plan.planned_peak_bytes));
  const auto row = [&out](std::string_view what, int64_t bytes) {
    out += fmt::format("  {:<36}{:>16} B\n", what, grouped(bytes));
  };
  row("parameters", plan.parameter_bytes);
  const bool trains_some = plan.trained_parameters < plan.parameters;
  if (trains_some) row("  of which no step changes", plan.read_only_bytes);
  row("state (moments, running statistics)", plan.state_bytes);
  if (plan.saved_state_bytes > 0) row("  saved by keeping 8 bits", plan.saved_state_bytes);
  if (plan.in_file_bytes > 0) row("  of both in the swap file", -plan.in_file_bytes);
  row("constants", plan.constant_bytes);
  row("their padding to cache lines", plan.padding_bytes);
  row("arena (activations to workspaces)", plan.arena_bytes);
  if (plan.staging_bytes > 0) row("staging for the swap file", plan.staging_bytes);
  const double above = plan.lower_bound_bytes == 0
                           ? 0.0
                           : 100.0 * static_cast<double>(plan.planned_peak_bytes) /
                                     static_cast<double>(plan.lower_bound_bytes) -
                                 100.0;
  out += fmt::format("  lower bound for this order: {} B, packed {:.2f} % above it\n",
                     grouped(plan.lower_bound_bytes), above);
  if (trains_some) {
    out += fmt::format("trained: {} of {} parameters\n", grouped(plan.trained_parameters),
                       grouped(plan.parameters));
  }
  if (plan.input_pipeline_bytes > 0) {
    out +=
        fmt::format("beside it the input pipeline: {}\n", format_bytes(plan.input_pipeline_bytes));
  }
  if (plan.reserved_bytes > 0) {
    out +=
        fmt::format("set aside for constants of smaller batches and the tables of a program: {}\n",
                    format_bytes(plan.reserved_bytes));
  }
  if (plan.swap_written_bytes > 0 || plan.swap_read_bytes > 0) {
    out += fmt::format("swap file, each step: {} written, {} read, predicted {}, waiting {}\n",
                       short_bytes(plan.swap_written_bytes), short_bytes(plan.swap_read_bytes),
                       short_time(plan.swap_busy_ms), short_time(plan.swap_stall_ms));
    out += fmt::format("swap file, on the disk: {}\n", format_bytes(plan.swap_file_bytes));
  } else if (!plan.no_swap.empty()) {
    out += "no swap file:\n" + wrapped(plan.no_swap, 2);
  }
  if (plan.step_ms > 0.0) out += fmt::format("predicted step: {}\n", short_time(plan.step_ms));
  return out;
}

// The table of strategies. Columns without content are left out.
std::string strategy_table(const Plan& plan) {
  if (plan.strategies.empty()) return {};
  const auto any = [&plan](auto has) {
    return std::any_of(plan.strategies.begin(), plan.strategies.end(), has);
  };
  const bool flops = any([](const PlanStrategy& s) { return s.extra_flops != 0.0; });
  const bool file = any([](const PlanStrategy& s) { return s.extra_io_bytes != 0; });
  const auto row = [&](std::string_view name, std::string_view saved, std::string_view left,
                       std::string_view time, std::string_view work, std::string_view io) {
    std::string line =
        fmt::format("{:<{}}{:>12}{:>12}{:>12}", name, kNameColumns, saved, left, time);
    if (flops) line += fmt::format("{:>13}", work);
    if (file) line += fmt::format("{:>12}", io);
    return line + '\n';
  };
  std::string out =
      row("strategy", "bytes saved", "bytes left", "time cost", "more work", "file I/O");
  for (const PlanStrategy& s : plan.strategies) {
    std::string name = "  " + s.name + (s.lossless ? "" : " (lossy)");
    const bool beside = !s.detail.empty() && name.size() + 2 + s.detail.size() < kNameColumns;
    if (beside) name += ", " + s.detail;
    out += row(name, s.saved_bytes == 0 ? "-" : short_bytes(s.saved_bytes),
               short_bytes(s.left_bytes), s.predicted_ms == 0.0 ? "-" : short_time(s.predicted_ms),
               s.extra_flops == 0.0 ? "-" : short_flops(s.extra_flops),
               s.extra_io_bytes == 0 ? "-" : short_bytes(s.extra_io_bytes));
    if (!beside) out += wrapped(s.detail, 4);
  }
  if (any([](const PlanStrategy& s) { return !s.lossless; })) {
    out += "  (lossy): asked for; results are not those of a training without it\n";
  }
  return out;
}

std::string verdict(const Plan& plan) {
  if (plan.budget_bytes <= 0) return {};
  const std::string budget = "budget " + format_bytes(plan.budget_bytes);
  const int64_t needed = plan.planned_peak_bytes + plan.input_pipeline_bytes + plan.reserved_bytes;
  if (plan.fits) {
    return fmt::format("{}: kept, {} to spare\n", budget, short_bytes(plan.budget_bytes - needed));
  }
  std::string out =
      fmt::format("{}: cannot be kept, {} too little\n", budget,
                  short_bytes(std::max(plan.nearest_feasible_bytes, needed) - plan.budget_bytes));
  if (plan.nearest_feasible_bytes > 0) {
    out +=
        fmt::format("  nearest budget that can: {}\n", format_bytes(plan.nearest_feasible_bytes));
  }
  const int64_t always = needed - plan.arena_bytes;
  if (always > plan.budget_bytes) {
    out += fmt::format("  memory held during the whole step alone takes {}\n", short_bytes(always));
  }
  return out;
}

// The op at the peak and the largest buffers there.
std::string peak_text(const Plan& plan, int largest_buffers) {
  if (plan.steps.empty()) return {};
  std::string out =
      fmt::format("peak at op {} of 0 to {}: {}\n", grouped(plan.peak_step),
                  grouped(static_cast<int64_t>(plan.steps.size()) - 1), plan::binding_op(plan));
  const std::vector<const PlanBuffer*> alive = plan::binding_buffers(plan);
  const size_t shown = std::min(alive.size(), static_cast<size_t>(std::max(largest_buffers, 0)));
  for (size_t i = 0; i < shown; ++i) {
    const PlanBuffer& buffer = *alive[i];
    out +=
        fmt::format("  {:>14} B  {:<11} {} {}{}\n", grouped(buffer.bytes), buffer.role, buffer.name,
                    to_string(buffer.shape), buffer.made == Made::fetched ? ", read back" : "");
  }
  if (shown < alive.size()) {
    out += fmt::format("  and {}\n",
                       plural(static_cast<int64_t>(alive.size() - shown), "smaller one"));
  }
  return out;
}

}  // namespace

std::string Plan::text(int largest_buffers) const {
  return totals(*this) + strategy_table(*this) + verdict(*this) + peak_text(*this, largest_buffers);
}

std::ostream& operator<<(std::ostream& out, const Plan& plan) { return out << plan.text(); }

}  // namespace thimble

// The memory plan of a step.
#include <fmt/format.h>
#include <thimble/plan.h>

#include "bindings.h"
#include "io/html/training_report.h"

namespace thimble::python {

namespace {

const char* made_of(const PlanBuffer& buffer) {
  static constexpr const char* kMade[] = {"first", "recomputed", "fetched"};
  return kMade[static_cast<size_t>(buffer.made)];
}

std::string text_of_strategy(const PlanStrategy& s) {
  return fmt::format("<{}{}: saves {}, leaves {}, {:+.3g} ms>", s.name,
                     s.detail.empty() ? "" : " (" + s.detail + ")", format_bytes(s.saved_bytes),
                     format_bytes(s.left_bytes), s.predicted_ms);
}

}  // namespace

void bind_plan(nb::module_& m) {
  nb::class_<PlanBuffer>(m, "PlanBuffer",
                         "A buffer of the arena; birth and death count steps of the plan.")
      .def_ro("name", &PlanBuffer::name)
      .def_ro("role", &PlanBuffer::role)
      .def_prop_ro("dtype", [](const PlanBuffer& b) { return std::string(to_string(b.dtype)); })
      .def_prop_ro(
          "shape", [](const PlanBuffer& b) { return shape_tuple(b.shape); },
          nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_ro("bytes", &PlanBuffer::bytes)
      .def_ro("offset", &PlanBuffer::offset)
      .def_ro("birth", &PlanBuffer::birth)
      .def_ro("death", &PlanBuffer::death)
      .def_prop_ro(
          "made", [](const PlanBuffer& b) { return std::string(made_of(b)); },
          "\"first\", \"recomputed\", or \"fetched\" from the swap file.");
  nb::class_<PlanStep>(m, "PlanStep", "One op of the step, in order of execution.")
      .def_ro("op", &PlanStep::op)
      .def_ro("layer", &PlanStep::layer)
      .def_ro("live_bytes", &PlanStep::live_bytes);
  nb::class_<PlanStrategy>(m, "PlanStrategy",
                           "A strategy that the plan uses to save memory, and its cost.")
      .def_ro("name", &PlanStrategy::name)
      .def_ro("detail", &PlanStrategy::detail, "What it was done to.")
      .def_ro("saved_bytes", &PlanStrategy::saved_bytes, "Of the peak.")
      .def_ro("left_bytes", &PlanStrategy::left_bytes, "The peak that then remains.")
      .def_ro("extra_flops", &PlanStrategy::extra_flops, "A step.")
      .def_ro("extra_io_bytes", &PlanStrategy::extra_io_bytes,
              "Read from and written to the swap file, per step.")
      .def_ro("predicted_ms", &PlanStrategy::predicted_ms, "That a step takes longer.")
      .def_ro("lossless", &PlanStrategy::lossless, "Whether every result keeps its bits.")
      .def("__repr__", &text_of_strategy);
  nb::class_<Plan>(m, "MemoryPlan")
      .def_ro("planned_peak_bytes", &Plan::planned_peak_bytes)
      .def_ro("lower_bound_bytes", &Plan::lower_bound_bytes)
      .def_ro("parameter_bytes", &Plan::parameter_bytes)
      .def_ro("state_bytes", &Plan::state_bytes)
      .def_ro("saved_state_bytes", &Plan::saved_state_bytes)
      .def_ro("read_only_bytes", &Plan::read_only_bytes)
      .def_ro("parameters", &Plan::parameters)
      .def_ro("trained_parameters", &Plan::trained_parameters)
      .def_ro("constant_bytes", &Plan::constant_bytes)
      .def_ro("padding_bytes", &Plan::padding_bytes)
      .def_ro("arena_bytes", &Plan::arena_bytes)
      .def_ro("activation_peak_bytes", &Plan::activation_peak_bytes)
      .def_ro("workspace_bytes", &Plan::workspace_bytes)
      .def_ro("staging_bytes", &Plan::staging_bytes)
      .def_ro("input_pipeline_bytes", &Plan::input_pipeline_bytes)
      .def_ro("reserved_bytes", &Plan::reserved_bytes)
      .def_ro("swap_file_bytes", &Plan::swap_file_bytes)
      .def_ro("no_swap", &Plan::no_swap)
      .def_ro("batch", &Plan::batch)
      .def_ro("micro_batches", &Plan::micro_batches)
      .def_ro("budget_bytes", &Plan::budget_bytes)
      .def_ro("fits", &Plan::fits)
      .def_ro("nearest_feasible_bytes", &Plan::nearest_feasible_bytes)
      .def_ro("swap_read_bytes", &Plan::swap_read_bytes)
      .def_ro("swap_written_bytes", &Plan::swap_written_bytes)
      .def_ro("swap_busy_ms", &Plan::swap_busy_ms)
      .def_ro("swap_stall_ms", &Plan::swap_stall_ms)
      .def_ro("step_ms", &Plan::step_ms)
      .def_ro("strategies", &Plan::strategies)
      .def_ro("peak_step", &Plan::peak_step)
      .def_ro("buffers", &Plan::buffers)
      .def_ro("steps", &Plan::steps)
      .def("text", &Plan::text, nb::arg("largest_buffers") = 8)
      .def(
          "html",
          [](const Plan& plan, const std::string& title) {
            io::TrainingReport report;
            report.title = title;
            report.plan = plan;
            return io::training_report_html(report);
          },
          nb::arg("title"));
  m.def("format_bytes", &format_bytes, nb::arg("bytes"));
}

}  // namespace thimble::python

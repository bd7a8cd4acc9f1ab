// The memory plan of a step.
#include <thimble/plan.h>

#include "bindings.h"
#include "io/html/training_report.h"

namespace thimble::python {

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
      .def_ro("death", &PlanBuffer::death);
  nb::class_<PlanStep>(m, "PlanStep", "One op of the step, in order of execution.")
      .def_ro("op", &PlanStep::op)
      .def_ro("layer", &PlanStep::layer)
      .def_ro("live_bytes", &PlanStep::live_bytes);
  nb::class_<Plan>(m, "MemoryPlan")
      .def_ro("planned_peak_bytes", &Plan::planned_peak_bytes)
      .def_ro("lower_bound_bytes", &Plan::lower_bound_bytes)
      .def_ro("parameter_bytes", &Plan::parameter_bytes)
      .def_ro("state_bytes", &Plan::state_bytes)
      .def_ro("constant_bytes", &Plan::constant_bytes)
      .def_ro("padding_bytes", &Plan::padding_bytes)
      .def_ro("arena_bytes", &Plan::arena_bytes)
      .def_ro("activation_peak_bytes", &Plan::activation_peak_bytes)
      .def_ro("workspace_bytes", &Plan::workspace_bytes)
      .def_ro("batch", &Plan::batch)
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

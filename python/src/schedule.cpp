// Learning rates as a function of the step.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <thimble/schedule.h>

#include "bindings.h"

namespace thimble::python {

void bind_schedule(nb::module_& m) {
  nb::class_<Schedule>(m, "Schedule",
                       "A learning rate for every step: an immutable value. Steps count from 0.")
      .def_static("constant", &Schedule::constant, nb::arg("lr"))
      .def_static(
          "step",
          [](double lr, int64_t step_size, double gamma) {
            return Schedule::step({lr, step_size, gamma});
          },
          nb::arg("lr"), nb::arg("step_size"), nb::arg("gamma") = StepDecay{}.gamma,
          "lr * gamma^floor(step / step_size); PyTorch's StepLR.")
      .def_static(
          "exponential",
          [](double lr, double gamma) {
            return Schedule::exponential({lr, gamma});
          },
          nb::arg("lr"), nb::arg("gamma"), "lr * gamma^step; PyTorch's ExponentialLR.")
      .def_static(
          "cosine_annealing",
          [](double max, int64_t decay_steps, double min) {
            return Schedule::cosine_annealing({max, min, decay_steps});
          },
          nb::arg("max"), nb::arg("decay_steps"), nb::arg("min") = 0.0,
          "Falls from max towards min over decay_steps along half a cosine, and starts again. "
          "Loshchilov and Hutter, SGDR, 2017.")
      .def_static(
          "linear",
          [](double max, int64_t decay_steps, double min) {
            return Schedule::linear({max, min, decay_steps});
          },
          nb::arg("max"), nb::arg("decay_steps"), nb::arg("min") = 0.0,
          "Falls from max to min over decay_steps in equal amounts, then stays.")
      .def_static("warmup", &Schedule::warmup, nb::arg("steps"), nb::arg("then"),
                  "Rises for `steps` steps to the first rate of `then`, which follows.")
      .def_static(
          "sequence",
          [](const std::vector<std::pair<int64_t, Schedule>>& stages) {
            std::vector<ScheduleStage> all;
            for (const auto& [steps, schedule] : stages) all.push_back({steps, schedule});
            return Schedule::sequence(all);
          },
          nb::arg("stages"),
          "Stages (steps, schedule), each counting its steps from 0; the last goes on for ever.")
      .def_static("parse", &Schedule::parse, nb::arg("text"), nb::arg("lr"),
                  nb::arg("total_steps") = 0,
                  "The command line's spelling: \"warmup:steps=100/cosine:min=1e-5\".")
      .def("at", &Schedule::at, nb::arg("step"), "The learning rate of a step.")
      .def("__call__", &Schedule::at, nb::arg("step"))
      .def("__repr__", [](const Schedule& s) { return "<thimble.Schedule " + s.text() + ">"; });
}

}  // namespace thimble::python

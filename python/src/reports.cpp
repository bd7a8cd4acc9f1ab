// What training and evaluation report.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <thimble/trainer.h>

#include "bindings.h"

namespace thimble::python {

void bind_reports(nb::module_& m) {
  nb::class_<Evaluation>(m, "Evaluation", "Means over samples.")
      .def_ro("loss", &Evaluation::loss)
      .def_ro("metrics", &Evaluation::metrics)
      .def_ro("samples", &Evaluation::samples)
      .def("__repr__", [](const Evaluation& e) {
        nb::str text("loss {:.5g}");
        std::string all = nb::cast<std::string>(text.format(e.loss));
        for (const auto& [name, value] : e.metrics) {
          all += ", " + name + " " + nb::cast<std::string>(nb::str("{:.5g}").format(value));
        }
        return all + " over " + std::to_string(e.samples) + " samples";
      });
  nb::class_<StepReport>(m, "StepReport", "What a callback is told after every step.")
      .def_ro("epoch", &StepReport::epoch, "From 0.")
      .def_ro("batch", &StepReport::batch, "In its epoch, from 0.")
      .def_ro("batches", &StepReport::batches, "Of the epoch; 0 where nobody knows.")
      .def_ro("step", &StepReport::step, "Of the whole training, from 0.")
      .def_ro("loss", &StepReport::loss)
      .def_ro("learning_rate", &StepReport::learning_rate)
      .def_ro("milliseconds", &StepReport::milliseconds);
  nb::class_<EpochReport>(m, "EpochReport", "What a callback is told after every epoch.")
      .def_ro("epoch", &EpochReport::epoch, "From 0.")
      .def_ro("train", &EpochReport::train, "As measured while parameters changed.")
      .def_ro("validation", &EpochReport::validation)
      .def_ro("learning_rate", &EpochReport::learning_rate)
      .def_ro("seconds", &EpochReport::seconds)
      .def_ro("is_best", &EpochReport::is_best);
  nb::class_<FitResult>(m, "FitResult", "What fit did.")
      .def_prop_ro(
          "end",
          [](const FitResult& r) {
            static constexpr const char* kEnds[] = {"finished", "stopped", "early"};
            return kEnds[static_cast<size_t>(r.end)];
          },
          "\"finished\", \"stopped\" by a callback, or \"early\" for want of gain.")
      .def_ro("epochs", &FitResult::epochs, "Reports of this call's epochs.")
      .def_ro("steps", &FitResult::steps, "Of the whole training.")
      .def_ro("ms_per_step_median", &FitResult::ms_per_step_median)
      .def_ro("input_pipeline_bytes", &FitResult::input_pipeline_bytes);
}

}  // namespace thimble::python

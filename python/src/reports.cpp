// Results of training and evaluation.
#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <thimble/trainer.h>

#include "bindings.h"

namespace thimble::python {
namespace {

std::string text_of_means(const Evaluation& e) {
  std::string all = fmt::format("loss {:.5g}", e.loss);
  for (const auto& [name, value] : e.metrics) all += fmt::format(", {} {:.5g}", name, value);
  return all + fmt::format(" over {} samples", e.samples);
}

std::string text_of_epoch(const EpochReport& r) {
  std::string text = fmt::format("epoch {}: {}", r.epoch, text_of_means(r.train));
  if (r.validation) text += "; validation " + text_of_means(*r.validation);
  return text;
}

const char* end_of(const FitResult& r) {
  static constexpr const char* kEnds[] = {"finished", "stopped", "early"};
  return kEnds[static_cast<size_t>(r.end)];
}

}  // namespace

void bind_reports(nb::module_& m) {
  nb::class_<Evaluation>(m, "Evaluation", "Means over samples.")
      .def_ro("loss", &Evaluation::loss)
      .def_ro("metrics", &Evaluation::metrics)
      .def_ro("samples", &Evaluation::samples)
      .def("__repr__", &text_of_means);
  nb::class_<StepReport>(m, "StepReport", "Report to a callback after every step.")
      .def_ro("epoch", &StepReport::epoch, "From 0.")
      .def_ro("batch", &StepReport::batch, "In its epoch, from 0.")
      .def_ro("batches", &StepReport::batches, "Batches of the epoch; 0 if unknown.")
      .def_ro("step", &StepReport::step, "Of the whole training, from 0.")
      .def_ro("loss", &StepReport::loss)
      .def_ro("learning_rate", &StepReport::learning_rate)
      .def_ro("milliseconds", &StepReport::milliseconds)
      .def_ro("swap_busy_ms", &StepReport::swap_busy_ms,
              "While the swap file had transfers under way.")
      .def_ro("swap_stall_ms", &StepReport::swap_stall_ms,
              "While the step waited for the swap file.")
      .def_ro("loss_scale", &StepReport::loss_scale,
              "With precision \"f16\", after this step; 0: none.")
      .def_ro("skipped", &StepReport::skipped,
              "Whether f16 gradients were not finite, so that nothing was updated.")
      .def_ro("swap_expected_stall_ms", &StepReport::swap_expected_stall_ms,
              "How long the rehearsed plan expects an updating step to wait that computes as long "
              "and whose swap file is as busy; 0 without a rehearsal.")
      .def("__repr__",
           [](const StepReport& r) { return fmt::format("step {}: loss {:.5g}", r.step, r.loss); });
  nb::class_<EpochReport>(m, "EpochReport", "Report to a callback after every epoch.")
      .def_ro("epoch", &EpochReport::epoch, "From 0.")
      .def_ro("train", &EpochReport::train, "As measured while parameters changed.")
      .def_ro("validation", &EpochReport::validation)
      .def_ro("learning_rate", &EpochReport::learning_rate)
      .def_ro("seconds", &EpochReport::seconds)
      .def_ro("is_best", &EpochReport::is_best)
      .def("__repr__", &text_of_epoch);
  nb::class_<FitResult>(m, "FitResult", "What fit did.")
      .def_prop_ro("end", &end_of,
                   "\"finished\", \"stopped\" by a callback, or \"early\" without improvement.")
      .def_ro("epochs", &FitResult::epochs, "Reports of this call's epochs.")
      .def_ro("steps", &FitResult::steps, "Of the whole training.")
      .def_ro("ms_per_step_median", &FitResult::ms_per_step_median)
      .def_ro("loss_scale", &FitResult::loss_scale,
              "With precision \"f16\", after the last step; 0: none.")
      .def_ro("skipped_updates", &FitResult::skipped_updates,
              "Of this call, because f16 gradients were not finite.")
      .def_ro("input_pipeline_bytes", &FitResult::input_pipeline_bytes)
      .def_ro("measured_peak_bytes", &FitResult::measured_peak_bytes,
              "The most that was held at once, input pipeline included.")
      .def_ro("swap_read_bytes", &FitResult::swap_read_bytes,
              "By the steps of this call, without validation.")
      .def_ro("swap_written_bytes", &FitResult::swap_written_bytes)
      .def_ro("swap_busy_ms", &FitResult::swap_busy_ms,
              "While the swap file had transfers under way.")
      .def_ro("swap_stall_ms", &FitResult::swap_stall_ms, "Time that these steps waited for it.")
      .def_ro("swap_expected_stall_ms", &FitResult::swap_expected_stall_ms,
              "Wait that the plan expects for them; see StepReport.")
      .def("__repr__", [](const FitResult& r) {
        std::string text = fmt::format("{} after {} steps", end_of(r), r.steps);
        for (const EpochReport& epoch : r.epochs) text += "\n" + text_of_epoch(epoch);
        return text;
      });
}

}  // namespace thimble::python

// Learning rates as a function of the step.
#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <thimble/schedule.h>

#include "bindings.h"

namespace thimble::python {
namespace {

template <class E>
E choice(const std::string& given, const char* first, const char* second, const char* where) {
  if (given == first) return static_cast<E>(0);
  if (given == second) return static_cast<E>(1);
  throw Error(where, std::string("expected \"") + first + "\" or \"" + second + "\", got \"" +
                         given + "\"");
}

Schedule one_cycle(double max, int64_t total_steps, double pct_start, const std::string& anneal,
                   double div_factor, double final_div_factor, bool three_phase,
                   bool cycle_momentum, double base_momentum, double max_momentum) {
  return Schedule::one_cycle({.max = max,
                              .total_steps = total_steps,
                              .pct_start = pct_start,
                              .anneal = choice<OneCycle::Anneal>(anneal, "cos", "linear", "anneal"),
                              .div_factor = div_factor,
                              .final_div_factor = final_div_factor,
                              .three_phase = three_phase,
                              .cycle_momentum = cycle_momentum,
                              .base_momentum = base_momentum,
                              .max_momentum = max_momentum});
}

Schedule cyclic(double max, double min, int64_t step_size_up, int64_t step_size_down,
                const std::string& mode, double gamma, bool cycle_momentum, double base_momentum,
                double max_momentum) {
  Cyclic settings{.max = max,
                  .min = min,
                  .step_size_up = step_size_up,
                  .step_size_down = step_size_down,
                  .gamma = gamma,
                  .cycle_momentum = cycle_momentum,
                  .base_momentum = base_momentum,
                  .max_momentum = max_momentum};
  if (mode == "triangular2") {
    settings.mode = Cyclic::Mode::triangular2;
  } else if (mode == "exp_range") {
    settings.mode = Cyclic::Mode::exp_range;
  } else if (mode != "triangular") {
    throw Error("mode",
                R"(expected "triangular", "triangular2" or "exp_range", got ")" + mode + "\"");
  }
  return Schedule::cyclic(settings);
}

Schedule reduce_on_plateau(double lr, const std::string& mode, double factor, int64_t patience,
                           double threshold, const std::string& threshold_mode, int64_t cooldown,
                           double min_lr, double eps, const std::string& metric) {
  return Schedule::reduce_on_plateau(
      {.lr = lr,
       .mode = choice<ReduceOnPlateau::Mode>(mode, "min", "max", "mode"),
       .factor = factor,
       .patience = patience,
       .threshold = threshold,
       .threshold_mode =
           choice<ReduceOnPlateau::ThresholdMode>(threshold_mode, "rel", "abs", "threshold_mode"),
       .cooldown = cooldown,
       .min_lr = min_lr,
       .epsilon = eps,
       .metric = metric});
}

Schedule of_function(const std::function<nb::object(int64_t)>& rate) {
  return Schedule::lambda([rate](int64_t step) {
    const nb::gil_scoped_acquire acquire;
    const nb::object given = rate(step);
    double value = 0.0;
    if (nb::try_cast(given, value)) return value;
    const std::string got = nb::cast<std::string>(nb::repr(given));
    throw nb::type_error(("[schedule] the function must return a number, got " + got).c_str());
  });
}

double at(const Schedule& schedule, int64_t step) { return schedule.at(step); }

void bind_longer_factories(nb::class_<Schedule>& schedule) {
  schedule
      .def_static(
          "cosine_restarts",
          [](double max, int64_t t_0, int64_t t_mult, double min) {
            return Schedule::cosine_restarts({max, min, t_0, t_mult});
          },
          nb::arg("max"), nb::arg("t_0"), nb::arg("t_mult") = 1, nb::arg("min") = 0.0,
          "cosine_annealing whose periods grow: t_0 steps, t_0 * t_mult, ...; PyTorch's "
          "CosineAnnealingWarmRestarts.")
      .def_static(
          "polynomial",
          [](double max, int64_t decay_steps, double min, double power) {
            return Schedule::polynomial({max, min, decay_steps, power});
          },
          nb::arg("max"), nb::arg("decay_steps"), nb::arg("min") = 0.0, nb::arg("power") = 1.0,
          "min + (max - min) * (1 - step / decay_steps)^power, then min; PyTorch's PolynomialLR.")
      .def_static(
          "one_cycle", &one_cycle, nb::arg("max"), nb::arg("total_steps"),
          nb::arg("pct_start") = OneCycle{}.pct_start, nb::arg("anneal") = "cos",
          nb::arg("div_factor") = OneCycle{}.div_factor,
          nb::arg("final_div_factor") = OneCycle{}.final_div_factor, nb::arg("three_phase") = false,
          nb::arg("cycle_momentum") = false, nb::arg("base_momentum") = OneCycle{}.base_momentum,
          nb::arg("max_momentum") = OneCycle{}.max_momentum,
          "From max / div_factor up to max and down to max / div_factor / "
          "final_div_factor; PyTorch's OneCycleLR. cycle_momentum: the optimizer's momentum "
          "(beta1 of the Adam family) falls as the rate rises, and back.")
      .def_static(
          "cyclic", &cyclic, nb::arg("max"), nb::arg("min") = 0.0,
          nb::arg("step_size_up") = Cyclic{}.step_size_up, nb::arg("step_size_down") = 0,
          nb::arg("mode") = "triangular", nb::arg("gamma") = 1.0, nb::arg("cycle_momentum") = false,
          nb::arg("base_momentum") = Cyclic{}.base_momentum,
          nb::arg("max_momentum") = Cyclic{}.max_momentum,
          "From min to max in step_size_up steps, back in step_size_down (0: as many), and "
          "again; PyTorch's CyclicLR. mode: \"triangular\"; \"triangular2\", each triangle "
          "half as high as the one before; or \"exp_range\", their height times gamma^step.")
      .def_static(
          "multi_step",
          [](double lr, std::vector<int64_t> milestones, double gamma) {
            return Schedule::multi_step({lr, std::move(milestones), gamma});
          },
          nb::arg("lr"), nb::arg("milestones"), nb::arg("gamma") = MultiStepDecay{}.gamma,
          "lr * gamma^(number of milestones, steps, that are reached); PyTorch's MultiStepLR.")
      .def_static("reduce_on_plateau", &reduce_on_plateau, nb::arg("lr"), nb::arg("mode") = "min",
                  nb::arg("factor") = ReduceOnPlateau{}.factor,
                  nb::arg("patience") = ReduceOnPlateau{}.patience,
                  nb::arg("threshold") = ReduceOnPlateau{}.threshold,
                  nb::arg("threshold_mode") = "rel", nb::arg("cooldown") = 0,
                  nb::arg("min_lr") = 0.0, nb::arg("eps") = ReduceOnPlateau{}.epsilon,
                  nb::arg("metric") = "",
                  "lr, times factor after more than `patience` epochs in a row without a better "
                  "loss (of the validation data, if any) or metric; PyTorch's ReduceLROnPlateau.")
      .def_static("function", &of_function, nb::arg("rate"),
                  nb::sig("def function(rate: collections.abc.Callable[[int], float]) -> Schedule"),
                  "Any function of the step. A checkpoint does not hold it.");
}

}  // namespace

void bind_schedule(nb::module_& m) {
  nb::class_<Schedule> schedule(
      m, "Schedule", "A learning rate for every step: an immutable value. Steps count from 0.");
  bind_longer_factories(schedule);
  schedule.def_static("constant", &Schedule::constant, nb::arg("lr"))
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
      .def("at", &at, nb::arg("step"), "The learning rate of a step.")
      .def("__call__", &at, nb::arg("step"))
      .def("__repr__", [](const Schedule& s) { return "<thimble.Schedule " + s.text() + ">"; });
}

}  // namespace thimble::python

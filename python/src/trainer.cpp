// Trainer: compile once; fit, evaluate, predict, save and resume.
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <thimble/trainer.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>

#include "bindings.h"
#include "model.h"
#include "train/fit.h"
#include "train/single_step.h"

namespace thimble::python {
namespace {

// A trainer used by one thread at a time; callbacks of its own fit may call it.
struct PyTrainer {
  PyTrainer(const Graph& graph, const TrainerOptions& options) : trainer(graph, options) {}
  explicit PyTrainer(CompiledTraining program) : trainer(std::move(program)) {}

  Trainer trainer;
  std::atomic<std::thread::id> user{};
  bool fitting = false;
};

class Use {
 public:
  explicit Use(PyTrainer& trainer) : trainer_(trainer) {
    std::thread::id nobody{};
    const std::thread::id me = std::this_thread::get_id();
    owns_ = trainer_.user.compare_exchange_strong(nobody, me);
    if (!owns_ && trainer_.user.load() != me) {
      throw std::runtime_error("the trainer is busy in another thread");
    }
  }
  ~Use() {
    if (owns_) trainer_.user.store({});
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  PyTrainer& trainer_;
  bool owns_ = false;
};

GradientClip clip_from(const std::string& kind, double limit) {
  if (kind == "none") return {};
  if (kind == "value") return GradientClip::by_value(limit);
  if (kind == "tensor_norm") return GradientClip::by_tensor_norm(limit);
  if (kind == "global_norm") return GradientClip::by_global_norm(limit);
  throw Error("clip", "there is no kind \"" + kind + "\"");
}

using Group = std::tuple<std::string, double, std::optional<double>, double, double,
                         std::optional<double>, bool>;
// Loss, pattern, and the text of the optimizer; empty for the trainer's.
using GivenObjective = std::tuple<std::string, std::string, std::string>;

Swap swap_from(const std::string& name) {
  if (name == "never") return Swap::never;
  if (name == "auto") return Swap::automatic;
  if (name == "always") return Swap::always;
  throw Error("swap", "must be \"never\", \"auto\" or \"always\", got \"" + name + "\"");
}

DType precision_from(const std::string& name) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    if (name == to_string(dtype)) return dtype;
  }
  throw Error("precision", "must be \"f32\", \"bf16\" or \"f16\", got \"" + name + "\"");
}

DType saved_from(const std::string& name) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    if (name == to_string(dtype)) return dtype;
  }
  throw Error("saved_activations", "must be \"f32\", \"bf16\" or \"f16\", got \"" + name + "\"");
}

DType error_type_from(const std::string& name) {
  for (const DType dtype : {DType::f32, DType::i8}) {
    if (name == to_string(dtype)) return dtype;
  }
  throw Error("error_type", "must be \"f32\" or \"i8\", got \"" + name + "\"");
}

IntegerRounding rounding_from(const std::string& name) {
  if (name == "stochastic") return IntegerRounding::stochastic;
  if (name == "residual") return IntegerRounding::residual;
  throw Error("integer_rounding", "must be \"stochastic\" or \"residual\", got \"" + name + "\"");
}

void make_options(TrainerOptions* self, const std::string& optimizer,
                  const std::optional<Schedule>& schedule, const std::vector<Group>& groups,
                  const std::vector<GivenObjective>& objectives, const std::string& scheme,
                  const std::string& clip, double clip_limit, double ema_decay, int64_t batch,
                  int64_t accumulate, int64_t memory_budget, const std::string& swap,
                  const std::string& swap_dir, int64_t micro_batches, bool split_batch_norm,
                  const std::string& precision, double loss_scale, int64_t loss_scale_interval,
                  const std::string& saved_activations, bool quantization_aware_scaling,
                  const std::string& integer_rounding, const std::string& error_type,
                  int64_t input_pipeline_bytes, uint64_t seed, int threads,
                  bool reference_kernels) {
  TrainerOptions options{.optimizer = Optimizer::parse(optimizer),
                         .schedule = schedule,
                         .clip = clip_from(clip, clip_limit),
                         .ema_decay = ema_decay,
                         .batch = batch,
                         .accumulate = accumulate,
                         .memory_budget = memory_budget,
                         .swap = swap_from(swap),
                         .swap_dir = swap_dir,
                         .micro_batches = micro_batches,
                         .split_batch_norm = split_batch_norm,
                         .precision = precision_from(precision),
                         .loss_scaling = {.initial = loss_scale, .interval = loss_scale_interval},
                         .saved_activations = saved_from(saved_activations),
                         .quantization_aware_scaling = quantization_aware_scaling,
                         .integer_rounding = rounding_from(integer_rounding),
                         .error_type = error_type_from(error_type),
                         .input_pipeline_bytes = input_pipeline_bytes,
                         .seed = seed,
                         .threads = threads,
                         .reference_kernels = reference_kernels};
  if (!scheme.empty()) options.scheme = UpdateScheme::parse(scheme);
  for (const auto& [pattern, lr_scale, weight_decay, l1, l2, clip_limit, frozen] : groups) {
    options.groups.push_back({pattern, lr_scale, weight_decay, l1, l2, clip_limit, frozen});
  }
  for (const auto& [loss, parameters, own] : objectives) {
    options.objectives.push_back({loss, parameters});
    if (!own.empty()) options.objectives.back().optimizer = Optimizer::parse(own);
  }
  new (self) TrainerOptions(std::move(options));
}

void make_trainer(PyTrainer* self, const Graph& graph, const TrainerOptions& options) {
  const nb::gil_scoped_release release;
  new (self) PyTrainer(graph, options);
}

// Plans all programs of a training and writes them to a file; the plan of a step.
Plan compile_program(const Graph& graph, const TrainerOptions& options, const std::string& path,
                     int64_t samples, int64_t test_samples, bool predict) {
  const nb::gil_scoped_release release;
  const CompiledTraining compiled(
      graph, options, {.samples = samples, .test_samples = test_samples, .predict = predict});
  const nb::gil_scoped_acquire acquire;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  from_file(
      folder.empty() ? "." : folder, [&] { compiled.save(path); }, "schedule");
  return compiled.plan();
}

std::unique_ptr<PyTrainer> load_program(const std::string& path, const std::string& swap_dir) {
  return from_file(path, [&] {
    CompiledTraining program = CompiledTraining::load(path);
    program.set_swap_dir(swap_dir);
    const nb::gil_scoped_release release;
    return std::make_unique<PyTrainer>(std::move(program));
  });
}

FitResult fit(PyTrainer& self, const nb::object& data, const nb::object& validation, int64_t epochs,
              int64_t initial_epoch, int64_t patience, bool shuffle, int prefetch,
              const std::string& checkpoint, const std::string& best_checkpoint,
              const nb::object& on_step, const nb::object& on_epoch) {
  const Use use(self);
  if (self.fitting) throw std::runtime_error("fit was called from a callback of fit");
  train::State& state = self.trainer.state();
  FitOptions options{.epochs = epochs,
                     .initial_epoch = initial_epoch,
                     .checkpoint = checkpoint,
                     .best_checkpoint = best_checkpoint,
                     .patience = patience};
  bool wants_stop = false;
  std::exception_ptr raised;
  // A callback that returns True ends training after the step or epoch. So does an exception, which
  // fit raises once its state is consistent.
  const auto call = [&](const nb::object& callback, const auto& report) {
    const nb::gil_scoped_acquire acquire;
    try {
      const nb::object answer = callback(report);
      if (answer.ptr() == Py_True) wants_stop = true;
    } catch (const nb::python_error&) {
      raised = std::current_exception();
      wants_stop = true;
    }
  };
  if (!on_step.is_none()) {
    options.on_step = [&](const StepReport& report) { call(on_step, report); };
  }
  if (!on_epoch.is_none()) {
    options.on_epoch = [&](const EpochReport& report) { call(on_epoch, report); };
  }
  bool interrupted = false;
  options.stop = [&] {
    if (wants_stop) return true;
    const nb::gil_scoped_acquire acquire;
    interrupted = PyErr_CheckSignals() != 0;
    return interrupted;
  };
  const data::LoaderOptions loader{.batch = state.options.batch,
                                   .shuffle = shuffle,
                                   .seed = state.options.seed,
                                   .prefetch = prefetch};
  const auto stream = stream_from(data, loader, false);
  std::function<Evaluation()> validate;
  if (!validation.is_none()) {
    validate = [&] {
      const nb::gil_scoped_acquire acquire;
      const auto rows = stream_from(
          validation,
          {.batch = state.options.batch, .shuffle = false, .training = false, .prefetch = prefetch},
          true);
      const nb::gil_scoped_release release;
      return state.evaluate(*rows, true);
    };
  }
  self.fitting = true;
  FitResult result;
  try {
    const nb::gil_scoped_release release;
    result = train::fit(state, *stream, options, validate);
  } catch (...) {
    self.fitting = false;
    throw;
  }
  self.fitting = false;
  if (raised) std::rethrow_exception(raised);
  // The signal handler raised KeyboardInterrupt, or an exception of the user's handler.
  if (interrupted) throw nb::python_error();
  return result;
}

Evaluation evaluate(PyTrainer& self, const nb::object& data) {
  const Use use(self);
  train::State& state = self.trainer.state();
  const auto stream =
      stream_from(data, {.batch = state.options.batch, .shuffle = false, .training = false}, true);
  const nb::gil_scoped_release release;
  return state.evaluate(*stream);
}

// The outputs of every sample: arrays by name.
nb::dict predict(PyTrainer& self, const nb::object& data) {
  const Use use(self);
  train::State& state = self.trainer.state();
  const auto stream =
      stream_from(data, {.batch = state.options.batch, .shuffle = false, .training = false}, true);
  PredictedRows rows(state.model, stream->samples());
  {
    const nb::gil_scoped_release release;
    state.predict(
        *stream, [&](const exec::Session& session, int64_t count) { rows.append(session, count); });
  }
  return std::move(rows).finish();
}

// The samples of a call that takes one batch.
std::unique_ptr<train::BatchStream> one_batch(const train::State& state, const nb::object& data) {
  return stream_from(
      data, {.batch = state.options.batch, .shuffle = false, .training = false, .prefetch = 0},
      true);
}

Evaluation step(PyTrainer& self, const nb::object& data) {
  const Use use(self);
  if (self.fitting) throw std::runtime_error("step was called from a callback of fit");
  train::State& state = self.trainer.state();
  const auto stream = one_batch(state, data);
  const nb::gil_scoped_release release;
  return train::single_step(state, *stream);
}

// Loss and metrics, and the gradients by name.
std::pair<Evaluation, nb::dict> gradients(PyTrainer& self, const nb::object& data) {
  const Use use(self);
  if (self.fitting) throw std::runtime_error("gradients was called from a callback of fit");
  train::State& state = self.trainer.state();
  const auto stream = one_batch(state, data);
  nb::dict arrays;
  const auto room = [&](const std::string& name, const Shape& shape) {
    const nb::gil_scoped_acquire acquire;
    std::byte* data = nullptr;
    arrays[name.c_str()] = new_array(DType::f32, shape, &data);
    const auto bytes = static_cast<size_t>(size_bytes(DType::f32, shape));
    std::fill_n(data, bytes, std::byte{0});
    return reinterpret_cast<float*>(data);
  };
  const Evaluation batch = [&] {
    const nb::gil_scoped_release release;
    return train::single_gradients(state, *stream, room);
  }();
  return {batch, arrays};
}

nb::dict tensors(const nb::handle_t<PyTrainer>& self) {
  train::State& state = nb::cast<PyTrainer&>(self).trainer.state();
  return model_tensors(state.model, state.runner.store(), self);
}

nb::dict sources(PyTrainer& self, ir::Role role) {
  return model_sources(self.trainer.state().model, role);
}

}  // namespace

void bind_trainer(nb::module_& m) {
  nb::class_<TrainerOptions>(m, "TrainerOptions")
      .def("__init__", &make_options, nb::arg("optimizer"), nb::arg("schedule").none(),
           nb::arg("groups"), nb::arg("objectives"), nb::arg("scheme"), nb::arg("clip"),
           nb::arg("clip_limit"), nb::arg("ema_decay"), nb::arg("batch"), nb::arg("accumulate"),
           nb::arg("memory_budget"), nb::arg("swap"), nb::arg("swap_dir"), nb::arg("micro_batches"),
           nb::arg("split_batch_norm"), nb::arg("precision"), nb::arg("loss_scale"),
           nb::arg("loss_scale_interval"), nb::arg("saved_activations"),
           nb::arg("quantization_aware_scaling"), nb::arg("integer_rounding"),
           nb::arg("error_type"), nb::arg("input_pipeline_bytes"), nb::arg("seed"),
           nb::arg("threads"), nb::arg("reference_kernels"));
  m.def(
      "choose_channels",
      [](const Graph& graph, const TrainerOptions& options, const data::Dataset& samples) {
        return choose_channels(graph, options, samples).text();
      },
      nb::arg("graph"), nb::arg("options"), nb::arg("samples"),
      nb::call_guard<nb::gil_scoped_release>());
  m.def("plan_training", &plan_training, nb::arg("graph"), nb::arg("options"),
        nb::call_guard<nb::gil_scoped_release>());
  m.def("compile_program", &compile_program, nb::arg("graph"), nb::arg("options"), nb::arg("path"),
        nb::arg("samples"), nb::arg("test_samples"), nb::arg("predict"));
  nb::class_<PyTrainer>(m, "Trainer")
      .def("__init__", &make_trainer, nb::arg("graph"), nb::arg("options"))
      .def_static("load_program", &load_program, nb::arg("path"), nb::arg("swap_dir"))
      .def("fit", &fit, nb::arg("data"), nb::arg("validation").none(), nb::arg("epochs"),
           nb::arg("initial_epoch"), nb::arg("patience"), nb::arg("shuffle"), nb::arg("prefetch"),
           nb::arg("checkpoint"), nb::arg("best_checkpoint"), nb::arg("on_step").none(),
           nb::arg("on_epoch").none())
      .def("start_averages",
           [](PyTrainer& t) {
             const Use use(t);
             t.trainer.state().start_averages();
           })
      .def("evaluate", &evaluate, nb::arg("data"))
      .def(
          "predict", &predict, nb::arg("data"),
          nb::sig("def predict(self, data: object) -> dict[str, numpy.typing.NDArray[typing.Any]]"))
      .def("step", &step, nb::arg("data"))
      .def("gradients", &gradients, nb::arg("data"),
           nb::sig("def gradients(self, data: object) -> tuple[Evaluation, dict[str, "
                   "numpy.typing.NDArray[numpy.float32]]]"))
      .def("plan", [](PyTrainer& t) { return t.trainer.plan(); })
      .def("save",
           [](PyTrainer& t, const std::string& path) {
             const Use use(t);
             to_file(path, [&] { t.trainer.save(path); });
           })
      .def("save_model",
           [](PyTrainer& t, const std::string& path) {
             const Use use(t);
             to_file(path, [&] { t.trainer.save_model(path); });
           })
      .def("resume",
           [](PyTrainer& t, const std::string& path) {
             const Use use(t);
             from_file(path, [&] { t.trainer.resume(path); });
           })
      .def("load_weights",
           [](PyTrainer& t, const std::string& path) {
             const Use use(t);
             from_file(path, [&] { t.trainer.load_weights(path); });
           })
      .def("tensors", &tensors,
           nb::sig("def tensors(self) -> dict[str, numpy.typing.NDArray[typing.Any]]"))
      .def(
          "check_tensor",
          [](PyTrainer& t, const std::string& name, const InputArray& values) {
            const Use use(t);
            check_tensor(t.trainer.state().runner.store(), name, values);
          },
          nb::arg("name"), nb::arg("values"))
      .def(
          "unpacked_tensor",
          [](PyTrainer& t, const std::string& name, const InputArray& values) {
            return unpacked_tensor(t.trainer.state().runner.store(), name, values);
          },
          nb::arg("name"), nb::arg("values"),
          nb::sig("def unpacked_tensor(self, name: str, values: object) -> "
                  "numpy.typing.NDArray[numpy.int8] | None"))
      .def(
          "set_tensor",
          [](PyTrainer& t, const std::string& name, const InputArray& values) {
            const Use use(t);
            set_tensor(t.trainer.state().runner.store(), name, values);
          },
          nb::arg("name"), nb::arg("values"))
      .def(
          "constant_tensor",
          [](PyTrainer& t, const std::string& name) {
            return constant_tensor(t.trainer.state().model, name);
          },
          nb::arg("name"),
          nb::sig("def constant_tensor(self, name: str) -> "
                  "numpy.typing.NDArray[typing.Any] | None"))
      .def("parameter_names", [](PyTrainer& t) { return t.trainer.parameter_names(); })
      .def(
          "inputs", [](PyTrainer& t) { return sources(t, ir::Role::input); },
          nb::sig("def inputs(self) -> dict[str, tuple[str, tuple[int, ...]]]"))
      .def(
          "labels", [](PyTrainer& t) { return sources(t, ir::Role::label); },
          nb::sig("def labels(self) -> dict[str, tuple[str, tuple[int, ...]]]"))
      .def_prop_ro("steps", [](PyTrainer& t) { return t.trainer.steps(); })
      .def_prop_ro("epochs", [](PyTrainer& t) { return t.trainer.epochs(); })
      .def_prop_ro("loss_scale", [](PyTrainer& t) { return t.trainer.loss_scale(); })
      .def_prop_ro("skipped_updates", [](PyTrainer& t) { return t.trainer.skipped_updates(); })
      .def_prop_ro("batch", [](PyTrainer& t) { return t.trainer.options().batch; })
      .def("weights_sha256", [](PyTrainer& t) { return t.trainer.weights_sha256(); });
}

}  // namespace thimble::python

// Predictor: a graph run forward.
#include <nanobind/stl/shared_ptr.h>

#include <atomic>
#include <mutex>
#include <optional>

#include "model.h"
#include "train/compile.h"
#include "train/feed.h"
#include "train/given_values.h"
#include "train/runner.h"

namespace thimble::python {
namespace {

class PyPredictor {
 public:
  PyPredictor(const Graph& graph, int64_t batch, int threads, bool reference_kernels)
      : model_(graph.ir()), batch_(batch), runner_(threads, !reference_kernels) {
    const train::GivenValues given(model_);
    if (batch < 1) throw Error("batch", "expected 1 or more, got " + std::to_string(batch));
    runner_.add_inference({0, batch_}, train::inference_graph(model_, batch_, false));
    runner_.seal();
    runner_.store().initialize(0);
    given.write_to(runner_.store());
    int inputs = 0;
    for (const ir::ValueData& value : model_.values) {
      if (value.role != ir::Role::input) continue;
      ++inputs;
      if (!is_packed(value.type.dtype)) input_ = &value;
    }
    if (inputs != 1) input_ = nullptr;
    if (input_ != nullptr) {
      const Shape sample = ir::with_batch(input_->type.shape, 1);
      sample_bytes_ = static_cast<size_t>(size_bytes(input_->type.dtype, sample));
    }
    for (const auto& [name, id] : model_.outputs) outputs_.push_back({name, model_.type(id)});
    try {
      given.require_all(model_);
    } catch (const Error& error) {
      lacking_ = error;
    }
  }

  nb::dict predict(const nb::object& data) {
    const auto stream =
        stream_from(data, {.batch = batch_, .shuffle = false, .training = false}, true);
    PredictedRows rows(model_, stream->samples());
    {
      const nb::gil_scoped_release release;
      const std::lock_guard lock(running_);
      note_changes();
      run(*stream, rows);
    }
    return std::move(rows).finish();
  }

  // The same of an array of the only input, if it needs no conversion; else none.
  nb::object predict_array(nb::handle given) {
    InputArray array;
    if (input_ == nullptr || !nb::try_cast(given, array, false) || !fits(array)) return nb::none();
    const auto samples = static_cast<int64_t>(array.shape(0));
    PredictedRows rows(model_, samples);
    const auto collect = [&](const exec::Session& session, int64_t count) {
      rows.append(session, count);
    };
    run(static_cast<const std::byte*>(array.data()), samples, collect);
    return std::move(rows).finish();
  }

  // The output of this name, or the only one, for such an array, written to `out` unless that is
  // None. None where there is no such output, where the data or `out` are no arrays of these types
  // and shapes, and where they overlap. It costs less than predict_array: that counts for small
  // models.
  nb::object predict_output(nb::handle given, nb::handle name, nb::handle out) {
    Output* const output = find_output(name);
    NumpyArrays::Memory from;
    if (input_ == nullptr || output == nullptr || !numpy_.read(given, from) || !fits(from)) {
      return nb::none();
    }
    const auto samples = static_cast<int64_t>(from.shape[0]);
    if (output->samples != samples) set_samples(*output, samples);
    nb::object array = out.is_none() ? numpy_.empty(output->shape, output->dtype) : nb::borrow(out);
    NumpyArrays::Memory to;
    if (!numpy_.read(array, to)) return nb::none();
    const auto bytes = static_cast<size_t>(output->bytes);
    if (!out.is_none()) {
      const bool same = to.dtype == numpy_dtype(output->type.dtype) &&
                        std::equal(to.shape.begin(), to.shape.end(), output->sizes.dims().begin(),
                                   output->sizes.dims().end());
      const bool apart = to.data + bytes <= from.data ||
                         from.data + static_cast<size_t>(samples) * sample_bytes_ <= to.data;
      if (!same || !to.is_writable || !apart) return nb::none();
    }
    std::byte* end = to.data;
    run(from.data, samples, [&](const exec::Session& session, int64_t /*count*/) {
      const std::span<const std::byte> results = session.output(output->name);
      end = std::copy(results.begin(), results.end(), end);
    });
    return array;
  }

  // Arrays over the parameters and states, through which they may change.
  nb::dict tensors(nb::handle self) {
    struct View {
      nb::object predictor;
      std::shared_ptr<std::atomic<int64_t>> count;
    };
    auto* const view = new View{nb::borrow(self), views_};
    {
      const nb::gil_scoped_release release;
      const std::lock_guard lock(running_);
      ++*views_;
      may_have_changed_ = true;
    }
    const nb::capsule owner(view, [](void* p) noexcept {
      auto* const held = static_cast<View*>(p);
      --*held->count;
      delete held;
    });
    return model_tensors(model_, store(), owner);
  }

  // Throws Error where the graph has no values for a parameter or state.
  void require_values() const {
    if (lacking_) throw *lacking_;
  }
  [[nodiscard]] const ir::Graph& model() const { return model_; }
  [[nodiscard]] const exec::Store& store() const { return runner_.store(); }
  [[nodiscard]] exec::Store& store() { return runner_.store(); }
  [[nodiscard]] Plan plan() const { return runner_.plan({0, batch_}); }

 private:
  // An output and what its array is for a number of samples.
  struct Output {
    std::string name;
    ir::TensorType type;
    int64_t samples = -1;
    Shape sizes = {};
    int64_t bytes = 0;
    nb::tuple shape = {};
    nb::object dtype = {};
  };

  // Null where there is none, or its elements are packed.
  [[nodiscard]] Output* find_output(nb::handle name) {
    if (name.is_none() ? outputs_.size() != 1 : !nb::isinstance<nb::str>(name)) return nullptr;
    const auto is_it = [&](const Output& output) {
      return name.is_none() || nb::cast<std::string>(name) == output.name;
    };
    const auto found = std::find_if(outputs_.begin(), outputs_.end(), is_it);
    return found == outputs_.end() || is_packed(found->type.dtype) ? nullptr : &*found;
  }
  // Throws Error where the output has no part of each sample.
  void set_samples(Output& output, int64_t samples) const {
    train::require_parts_of_samples(model_, output.name);
    output.sizes = ir::with_batch(output.type.shape, samples);
    output.bytes = size_bytes(output.type.dtype, output.sizes);
    output.shape = shape_tuple(output.sizes);
    output.dtype = numpy_dtype_object(output.type.dtype);
    output.samples = samples;
  }

  void run(train::BatchStream& stream, PredictedRows& rows) {
    train::Feed feed(model_, stream, false);
    stream.start(0, 0);
    while (const data::Batch* batch = stream.next()) {
      exec::Session& session = session_for(batch->count);
      feed.copy(*batch, {0, batch->count}, session);
      static_cast<void>(session.run());
      rows.append(session, batch->count);
    }
  }

  // Calls collect(session, samples) after each batch of the only input.
  template <class Collect>
  void run(const std::byte* from, int64_t samples, const Collect& collect) {
    const nb::gil_scoped_release release;
    const std::lock_guard lock(running_);
    note_changes();
    for (int64_t first = 0; first < samples; first += batch_) {
      if (first > 0) check_signals();
      const int64_t count = std::min(batch_, samples - first);
      exec::Session& session = session_for(count);
      const std::span<std::byte> to = session.source(input_->name);  // empty: nothing reads it
      std::copy_n(from, to.size(), to.begin());
      from += to.size();
      static_cast<void>(session.run());
      collect(session, count);
    }
  }

  exec::Session& session_for(int64_t count) {
    train::Runnable* const known = runner_.find({0, count});
    if (known != nullptr) return *known->session;
    return *runner_.extend({0, count}, train::inference_graph(model_, count, false)).session;
  }

  // Whether an array holds samples of the input as the session takes them.
  [[nodiscard]] bool fits(const NumpyArrays::Memory& array) const {
    return fits(array.dtype, array.shape);
  }
  [[nodiscard]] bool fits(const InputArray& array) const {
    return fits(array.dtype(), std::span(array.shape_ptr(), array.ndim()));
  }
  template <class Size>
  [[nodiscard]] bool fits(nb::dlpack::dtype dtype, std::span<const Size> sizes) const {
    const std::vector<int64_t>& dims = input_->type.shape.dims();
    return dtype == numpy_dtype(input_->type.dtype) && !dims.empty() &&
           sizes.size() == dims.size() &&
           std::equal(sizes.begin() + 1, sizes.end(), dims.begin() + 1);
  }

  // Writes through arrays are not seen: while there are such arrays, weights count as changed.
  void note_changes() {
    if (!may_have_changed_) return;
    store().changed();
    may_have_changed_ = *views_ > 0;
  }

  ir::Graph model_;
  int64_t batch_;
  train::Runner runner_;
  // The only input, if its samples lie one after another as in NumPy's arrays; else null.
  const ir::ValueData* input_ = nullptr;
  // Arrays over weights, as groups.
  std::shared_ptr<std::atomic<int64_t>> views_ = std::make_shared<std::atomic<int64_t>>(0);
  bool may_have_changed_ = false;  // while running_ is held
  std::mutex running_;
  size_t sample_bytes_ = 0;  // of the only input
  std::vector<Output> outputs_;
  NumpyArrays numpy_;
  std::optional<Error> lacking_;
};

}  // namespace

void bind_predictor(nb::module_& m) {
  nb::class_<PyPredictor>(m, "Predictor")
      .def(nb::init<const Graph&, int64_t, int, bool>(), nb::arg("graph"), nb::arg("batch"),
           nb::arg("threads"), nb::arg("reference_kernels"))
      .def(
          "predict", &PyPredictor::predict, nb::arg("data"),
          nb::sig("def predict(self, data: object) -> dict[str, numpy.typing.NDArray[typing.Any]]"))
      .def("predict_array", &PyPredictor::predict_array, nb::arg("data"),
           nb::sig("def predict_array(self, data: object) -> dict[str, "
                   "numpy.typing.NDArray[typing.Any]] | None"))
      .def("predict_output", &PyPredictor::predict_output, nb::arg("data").none(),
           nb::arg("output").none(), nb::arg("out").none(),
           nb::sig("def predict_output(self, data: object, output: str | None, out: object) -> "
                   "numpy.typing.NDArray[typing.Any] | None"))
      .def("plan", &PyPredictor::plan)
      .def("require_values", &PyPredictor::require_values)
      .def(
          "tensors",
          [](const nb::handle_t<PyPredictor>& self) {
            auto& predictor = nb::cast<PyPredictor&>(self);
            return predictor.tensors(self);
          },
          nb::sig("def tensors(self) -> dict[str, numpy.typing.NDArray[typing.Any]]"))
      .def(
          "check_tensor",
          [](const PyPredictor& p, const std::string& name, const InputArray& values) {
            check_tensor(p.store(), name, values);
          },
          nb::arg("name"), nb::arg("values"))
      .def(
          "unpacked_tensor",
          [](const PyPredictor& p, const std::string& name, const InputArray& values) {
            return unpacked_tensor(p.store(), name, values);
          },
          nb::arg("name"), nb::arg("values"),
          nb::sig("def unpacked_tensor(self, name: str, values: object) -> "
                  "numpy.typing.NDArray[numpy.int8] | None"))
      .def(
          "constant_tensor",
          [](const PyPredictor& p, const std::string& name) {
            return constant_tensor(p.model(), name);
          },
          nb::arg("name"),
          nb::sig("def constant_tensor(self, name: str) -> "
                  "numpy.typing.NDArray[typing.Any] | None"))
      .def(
          "set_tensor",
          [](PyPredictor& p, const std::string& name, const InputArray& values) {
            set_tensor(p.store(), name, values);
          },
          nb::arg("name"), nb::arg("values"))
      .def(
          "inputs", [](const PyPredictor& p) { return model_sources(p.model(), ir::Role::input); },
          nb::sig("def inputs(self) -> dict[str, tuple[str, tuple[int, ...]]]"));
}

}  // namespace thimble::python

// Predictor: a graph run forward.
#include <nanobind/stl/shared_ptr.h>

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
  PyPredictor(const Graph& graph, int64_t batch, int threads)
      : model_(graph.ir()), batch_(batch), runner_(threads) {
    const train::GivenValues given(model_);
    if (batch < 1) throw Error("batch", "expected 1 or more, got " + std::to_string(batch));
    runner_.add({0, batch_}, train::inference_graph(model_, batch_, false));
    runner_.seal();
    runner_.store().initialize(0);
    given.write_to(runner_.store());
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
      run(*stream, rows);
    }
    return std::move(rows).finish();
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
  void run(train::BatchStream& stream, PredictedRows& rows) {
    train::Feed feed(model_, stream, false);
    stream.start(0, 0);
    while (const data::Batch* batch = stream.next()) {
      train::Runnable* runnable = runner_.find({0, batch->count});
      if (runnable == nullptr) {
        runnable =
            &runner_.extend({0, batch->count}, train::inference_graph(model_, batch->count, false));
      }
      feed.copy(*batch, {0, batch->count}, *runnable->session);
      static_cast<void>(runnable->session->run());
      rows.append(*runnable->session, batch->count);
    }
  }

  ir::Graph model_;
  int64_t batch_;
  train::Runner runner_;
  std::mutex running_;
  std::optional<Error> lacking_;
};

}  // namespace

void bind_predictor(nb::module_& m) {
  nb::class_<PyPredictor>(m, "Predictor")
      .def(nb::init<const Graph&, int64_t, int>(), nb::arg("graph"), nb::arg("batch"),
           nb::arg("threads"))
      .def(
          "predict", &PyPredictor::predict, nb::arg("data"),
          nb::sig("def predict(self, data: object) -> dict[str, numpy.typing.NDArray[typing.Any]]"))
      .def("plan", &PyPredictor::plan)
      .def("require_values", &PyPredictor::require_values)
      .def(
          "tensors",
          [](const nb::handle_t<PyPredictor>& self) {
            const auto& predictor = nb::cast<const PyPredictor&>(self);
            return model_tensors(predictor.model(), predictor.store(), self);
          },
          nb::sig("def tensors(self) -> dict[str, numpy.typing.NDArray[typing.Any]]"))
      .def(
          "check_tensor",
          [](const PyPredictor& p, const std::string& name, const InputArray& values) {
            check_tensor(p.store(), name, values);
          },
          nb::arg("name"), nb::arg("values"))
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

// Optimizers as functions of arrays: updates, and L-BFGS.
#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <thimble/lbfgs.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <tuple>

#include "bindings.h"
#include "train/update_function.h"

namespace thimble::python {
namespace {

// The rule of one optimizer for parameters of one shape. Threads that share it take turns.
class Update {
 public:
  Update(const std::string& optimizer, const std::vector<int64_t>& shape)
      : shape_(shape_from(shape, "optimizer")), update_(Optimizer::parse(optimizer), shape_, 1) {}

  // The first states of a parameter: (name, array) each.
  [[nodiscard]] nb::list first() const {
    nb::list states;
    for (const ir::StateSpec& spec : update_.states()) {
      std::byte* data = nullptr;
      const nb::object array = new_array(spec.type.dtype, spec.type.shape, &data);
      const auto bytes = static_cast<size_t>(size_bytes(spec.type.dtype, spec.type.shape));
      train::fill_first(spec, {data, bytes});
      states.append(nb::make_tuple(spec.name, array));
    }
    return states;
  }

  // The parameter and the states after an update.
  nb::list run(const InputArray& parameter, const InputArray& gradient,
               const std::vector<InputArray>& states, double lr, int64_t number) {
    check(parameter, "parameter");
    check(gradient, "gradient");
    if (states.size() != update_.states().size()) {
      throw Error("update", "the state is of another optimizer");
    }
    nb::list results;
    std::byte* data = nullptr;
    results.append(copied(parameter, {DType::f32, shape_}, data));
    const std::span<float> changed(reinterpret_cast<float*>(data),
                                   static_cast<size_t>(shape_.elements()));
    std::vector<std::span<std::byte>> kept;
    for (size_t i = 0; i < states.size(); ++i) {
      const ir::TensorType& type = update_.states()[i].type;
      if (states[i].nbytes() != static_cast<size_t>(size_bytes(type.dtype, type.shape))) {
        throw Error("update", "the state is of another optimizer, or of another shape");
      }
      results.append(copied(states[i], type, data));
      kept.emplace_back(data, states[i].nbytes());
    }
    const std::span<const float> along(static_cast<const float*>(gradient.data()), changed.size());
    const nb::gil_scoped_release release;
    const std::scoped_lock turn(mutex_);
    update_.run(changed, along, kept, lr, number, pool_);
    return results;
  }

 private:
  static nb::object copied(const InputArray& from, const ir::TensorType& type, std::byte*& data) {
    nb::object array = new_array(type.dtype, type.shape, &data);
    std::memcpy(data, from.data(), from.nbytes());
    return array;
  }
  void check(const InputArray& array, const char* what) const {
    if (shape_of(array) == shape_ && dtype_of(array.dtype(), what) == DType::f32) return;
    throw Error("update", std::string("expected a ") + what + " of shape " + to_string(shape_) +
                              ", float32, got " + to_string(shape_of(array)));
  }

  Shape shape_;
  std::mutex mutex_;  // of update_ and pool_
  train::UpdateFunction update_;
  parallel::ThreadPool pool_{1};
};

void make_lbfgs(Lbfgs* self, double lr, int64_t max_iter, int64_t max_eval, double tolerance_grad,
                double tolerance_change, int64_t history_size, bool strong_wolfe) {
  using LineSearch = LbfgsOptions::LineSearch;
  new (self) Lbfgs(
      LbfgsOptions{.lr = lr,
                   .max_iter = max_iter,
                   .max_eval = max_eval,
                   .tolerance_grad = tolerance_grad,
                   .tolerance_change = tolerance_change,
                   .history_size = history_size,
                   .line_search = strong_wolfe ? LineSearch::strong_wolfe : LineSearch::none});
}

// A float64 array of so many numbers.
nb::object numbers(std::span<const double> values) {
  std::byte* data = nullptr;
  const nb::object array =
      new_array(nb::dlpack::dtype{static_cast<uint8_t>(nb::dlpack::dtype_code::Float), 64, 1},
                {static_cast<int64_t>(values.size())}, &data);
  std::memcpy(data, values.data(), values.size_bytes());
  return array;
}

using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The loss before, and x after. objective: x -> (loss, gradient).
std::pair<double, nb::object> step(Lbfgs& self, const Doubles& x, const nb::object& objective) {
  std::vector<double> at(x.data(), x.data() + x.size());
  const double loss = self.step(at, [&](std::span<const double> now, std::span<double> gradient) {
    const auto [value, slope] = nb::cast<std::pair<double, Doubles>>(objective(numbers(now)));
    if (slope.size() != gradient.size()) throw Error("lbfgs", "the gradient has another size");
    std::copy_n(slope.data(), slope.size(), gradient.data());
    return value;
  });
  return {loss, numbers(at)};
}

}  // namespace

void bind_optimizers(nb::module_& m) {
  nb::class_<Update>(m, "Update")
      .def(nb::init<const std::string&, const std::vector<int64_t>&>(), nb::arg("optimizer"),
           nb::arg("shape"))
      .def("first", &Update::first,
           nb::sig("def first(self) -> list[tuple[str, numpy.typing.NDArray[typing.Any]]]"))
      .def("run", &Update::run, nb::arg("parameter"), nb::arg("gradient"), nb::arg("states"),
           nb::arg("lr"), nb::arg("number"),
           nb::sig("def run(self, parameter: numpy.typing.NDArray[typing.Any], gradient: "
                   "numpy.typing.NDArray[typing.Any], states: "
                   "collections.abc.Sequence[numpy.typing.NDArray[typing.Any]], lr: float, number: "
                   "int) -> list[numpy.typing.NDArray[typing.Any]]"));
  nb::class_<Lbfgs>(m, "Lbfgs")
      .def("__init__", &make_lbfgs, nb::arg("lr"), nb::arg("max_iter"), nb::arg("max_eval"),
           nb::arg("tolerance_grad"), nb::arg("tolerance_change"), nb::arg("history_size"),
           nb::arg("strong_wolfe"))
      .def("step", &step, nb::arg("x"), nb::arg("objective"),
           nb::sig("def step(self, x: numpy.typing.NDArray[numpy.float64], objective: "
                   "collections.abc.Callable[[numpy.typing.NDArray[numpy.float64]], tuple[float, "
                   "numpy.typing.NDArray[numpy.float64]]]) -> tuple[float, "
                   "numpy.typing.NDArray[numpy.float64]]"))
      .def_prop_ro("iterations", &Lbfgs::iterations)
      .def_prop_ro("evaluations", &Lbfgs::evaluations);
}

}  // namespace thimble::python

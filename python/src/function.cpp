// Functions of arrays: a graph is compiled, with gradients if wanted, and run at once.
#include <nanobind/stl/shared_ptr.h>

#include <cstring>
#include <mutex>

#include "autodiff/autodiff.h"
#include "bindings.h"
#include "exec/program.h"
#include "io/safetensors/safetensors.h"
#include "ops/families/random/random.h"
#include "passes/passes.h"

namespace thimble::python {
namespace {

// One pool for all functions: they run one at a time.
struct Machine {
  explicit Machine(int threads) : pool(threads) {}
  parallel::ThreadPool pool;
  std::mutex running;
};

std::shared_ptr<Machine>& machine() {
  static std::shared_ptr<Machine> shared = std::make_shared<Machine>(0);
  return shared;
}

class Function {
 public:
  // wanted: inputs with respect to which the first output, a scalar, is differentiated; their
  // gradients follow the outputs. The graph has no parameters. Throws Error.
  Function(const std::shared_ptr<Graph>& owner, const std::vector<PyValue>& inputs,
           const std::vector<PyValue>& outputs, const std::vector<PyValue>& wanted, bool training)
      : machine_(machine()) {
    ir::Graph graph = owner->ir();
    graph.loss.reset();
    graph.metrics.clear();
    graph.outputs.clear();
    for (size_t i = 0; i < outputs.size(); ++i) {
      graph.outputs.emplace_back("output " + std::to_string(i), outputs[i].value.id());
      outputs_.push_back(graph.type(outputs[i].value.id()));
    }
    for (const PyValue& input : inputs) {
      inputs_.push_back({input.value.name(), graph.type(input.value.id())});
    }
    graph = passes::specialize(graph, training ? ir::Phase::training : ir::Phase::inference);
    if (!wanted.empty()) append_gradients(graph, wanted);
    program_ = std::make_unique<exec::Program>(
        graph, exec::CompileOptions{.threads = machine_->pool.threads()});
    store_ = std::make_unique<exec::Store>(std::vector<const program::Program*>{&program_->data()});
    arena_ = exec::Block(program_->plan().arena_bytes);
    session_ = std::make_unique<exec::Session>(
        program_->data(), *store_,
        std::span<std::byte>(arena_.data(), static_cast<size_t>(arena_.bytes())), machine_->pool);
  }

  // Arrays in, a list of arrays out. seed and step: of the random numbers drawn.
  nb::list call(const std::vector<InputArray>& arrays, uint64_t seed, uint64_t step) {
    if (arrays.size() != inputs_.size()) throw Error("function", "wrong number of arrays");
    for (size_t i = 0; i < arrays.size(); ++i) {
      const ir::TensorType given{dtype_of(arrays[i].dtype(), "function"), shape_of(arrays[i])};
      if (given != inputs_[i].type) {
        throw Error("function", "compiled for " + ir::to_string(inputs_[i].type) + ", got " +
                                    ir::to_string(given));
      }
    }
    nb::list results;
    std::vector<std::byte*> data(outputs_.size());
    for (size_t i = 0; i < outputs_.size(); ++i) {
      results.append(new_array(outputs_[i].dtype, outputs_[i].shape, &data[i]));
    }
    const nb::gil_scoped_release release;
    const std::lock_guard lock(machine_->running);
    for (size_t i = 0; i < arrays.size(); ++i) set(inputs_[i], arrays[i].data());
    const uint32_t rng[ops::kRngWords] = {
        static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32), static_cast<uint32_t>(step),
        static_cast<uint32_t>(step >> 32)};
    const std::span<std::byte> state = session_->source(ir::kRngName);
    if (!state.empty()) std::memcpy(state.data(), rng, sizeof(rng));
    static_cast<void>(session_->run());
    for (size_t i = 0; i < outputs_.size(); ++i) get(i, data[i]);
    return results;
  }

  // Memory it holds between calls.
  [[nodiscard]] int64_t bytes() const { return arena_.bytes() + program_->plan().constant_bytes; }

 private:
  struct Input {
    std::string name;
    ir::TensorType type;
  };

  void append_gradients(ir::Graph& graph, const std::vector<PyValue>& wanted) {
    const int target = graph.outputs.front().second;
    if (graph.type(target) != ir::TensorType{DType::f32, {}}) {
      throw Error("value_and_grad", "the function must return one f32 number, got " +
                                        ir::to_string(graph.type(target)) +
                                        "; reduce it with mean or sum");
    }
    std::vector<int> ids;
    for (const PyValue& each : wanted) ids.push_back(graph.find_source(each.value.name()).id());
    const autodiff::Cotangent seed{graph.value(target), autodiff::one(graph)};
    const auto gradients = autodiff::append_gradients(graph, {&seed, 1}, ids);
    for (size_t i = 0; i < gradients.size(); ++i) {
      // -1: the function does not depend on that input; its gradient is zero.
      if (gradients[i].gradient >= 0) {
        graph.outputs.emplace_back("output " + std::to_string(outputs_.size()),
                                   gradients[i].gradient);
      }
      outputs_.push_back({DType::f32, wanted[i].value.shape()});
    }
  }

  void set(const Input& input, const void* data) const {
    const std::span<std::byte> bytes = session_->source(input.name);
    if (bytes.empty()) return;  // the result does not depend on it
    pack(input.type.dtype, bytes.data(), data, input.type.shape.elements());
  }

  void get(size_t i, std::byte* data) const {
    const std::span<const std::byte> bytes = session_->output("output " + std::to_string(i));
    const int64_t elements = outputs_[i].shape.elements();
    if (!bytes.empty()) {
      unpack(outputs_[i].dtype, data, bytes, elements);
    } else {
      std::memset(data, 0,
                  static_cast<size_t>(io::file_bytes(outputs_[i].dtype, outputs_[i].shape)));
    }
  }

  std::shared_ptr<Machine> machine_;
  std::vector<Input> inputs_;
  std::vector<ir::TensorType> outputs_;
  std::unique_ptr<exec::Program> program_;
  std::unique_ptr<exec::Store> store_;
  exec::Block arena_;
  std::unique_ptr<exec::Session> session_;
};

}  // namespace

void bind_function(nb::module_& m) {
  nb::class_<Function>(m, "Function")
      .def(nb::init<const std::shared_ptr<Graph>&, const std::vector<PyValue>&,
                    const std::vector<PyValue>&, const std::vector<PyValue>&, bool>(),
           nb::arg("graph"), nb::arg("inputs"), nb::arg("outputs"), nb::arg("wanted"),
           nb::arg("training"))
      .def("__call__", &Function::call, nb::arg("arrays"), nb::arg("seed"), nb::arg("step"),
           nb::sig("def __call__(self, arrays: "
                   "collections.abc.Sequence[numpy.typing.NDArray[typing.Any]], seed: int, step: "
                   "int) -> list[numpy.typing.NDArray[typing.Any]]"))
      .def_prop_ro("bytes", &Function::bytes);
  m.def(
      "set_num_threads",
      [](int threads) {
        if (threads < 0) throw Error("set_num_threads", "expected 0 or more");
        machine() = std::make_shared<Machine>(threads);
      },
      nb::arg("threads"),
      "Threads of the functions compiled from now on; 0: one per processor, which is the default.");
}

}  // namespace thimble::python

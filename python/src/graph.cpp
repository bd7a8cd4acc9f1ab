// Graph and Value.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <thimble/quantization.h>

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <set>

#include "bindings.h"
#include "initializers.h"

namespace thimble::python {
namespace {

using Owner = std::shared_ptr<Graph>;

// A name that no value of the graph has.
std::string fresh_name(const ir::Graph& graph) {
  return "literal_" + std::to_string(graph.values.size());
}

// None is no quantization.
using Given = std::optional<Quantization>;

std::string text_of(const Quantization& q) {
  const std::string axis = q.axis ? std::to_string(*q.axis) : "None";
  return fmt::format("Quantization(scales=[{}], zero_points=[{}], axis={})",
                     fmt::join(q.scales, ", "), fmt::join(q.zero_points, ", "), axis);
}

void bind_quantization(nb::module_& m) {
  nb::class_<Quantization>(
      m, "Quantization",
      "The numbers that the integers of a tensor stand for: scale * (integer - zero point), with "
      "one scale for "
      "the whole tensor, or one for each index of an axis. Without zero points all are 0.")
      .def(
          "__init__",
          [](Quantization* self, std::vector<float> scales, std::vector<int32_t> zero_points,
             std::optional<int> axis) {
            if (scales.empty()) {
              throw nb::value_error("[Quantization] scales: expected at least one");
            }
            new (self) Quantization{std::move(scales), std::move(zero_points), axis};
          },
          nb::arg("scales"), nb::arg("zero_points") = std::vector<int32_t>(),
          nb::arg("axis") = nb::none(),
          nb::sig("def __init__(self, scales: collections.abc.Sequence[float], zero_points: "
                  "collections.abc.Sequence[int] = (), axis: int | None = None) -> None"))
      .def_ro("scales", &Quantization::scales)
      .def_ro("zero_points", &Quantization::zero_points)
      .def_ro("axis", &Quantization::axis)
      .def("__repr__", &text_of)
      .def(
          "__eq__",
          [](const Quantization& a, const nb::object& b) {
            return nb::isinstance<Quantization>(b) && a == nb::cast<const Quantization&>(b);
          },
          nb::arg("other").none(), nb::sig("def __eq__(self, other: object) -> bool"))
      .def("__hash__", [](const Quantization& q) { return std::hash<std::string>()(text_of(q)); });
}

PyValue constant(const Owner& owner, const InputArray& array, std::string name,
                 const Given& quantization) {
  const DType dtype = dtype_of(array.dtype(), "constant");
  const Shape shape = shape_of(array);
  std::vector<std::byte> bytes(static_cast<size_t>(size_bytes(dtype, shape)));
  if (!bytes.empty()) pack(dtype, bytes.data(), array.data(), shape.elements());
  if (name.empty()) name = fresh_name(owner->ir());
  return {owner, owner->constant(name, Array::of_bytes(dtype, shape, std::move(bytes)),
                                 quantization.value_or(Quantization()))};
}

// {"parameter" or "state": {name: shape}} of what was added to a graph since it had so many values.
nb::dict created_since(const Graph& graph, size_t values) {
  nb::dict created;
  for (const ir::Role role : {ir::Role::parameter, ir::Role::state}) {
    nb::dict names;
    for (size_t i = values; i < graph.ir().values.size(); ++i) {
      const ir::ValueData& value = graph.ir().values[i];
      if (value.role == role) names[value.name->c_str()] = shape_tuple(value.type.shape);
    }
    created[ir::to_string(role)] = names;
  }
  return created;
}

// Names of the values added since there were this many that no node reads.
std::vector<std::string> unread_since(const Graph& graph,
                                      const std::map<std::string, PyValue>& values, size_t nodes) {
  std::set<int> read;
  for (size_t i = nodes; i < graph.ir().nodes.size(); ++i) {
    const std::vector<int>& inputs = graph.ir().nodes[i].inputs;
    read.insert(inputs.begin(), inputs.end());
  }
  std::vector<std::string> unread;
  for (const auto& [name, given] : values) {
    if (!read.contains(given.value.id())) unread.push_back(name);
  }
  return unread;
}

// Operators call the generated functions.
nb::object call_op(const char* name, const nb::object& a, const nb::object& b) {
  const nb::object operators = nb::module_::import_("thimble._operators");
  for (const nb::object& operand : {a, b}) {
    if (!nb::cast<bool>(operators.attr("operand")(operand))) {
      return nb::borrow(Py_NotImplemented);
    }
  }
  return operators.attr(name)(a, b);
}

template <class Class>
void bind_operator(Class& value, const char* symbol, const char* op) {
  const std::string forward = std::string("__") + symbol + "__";
  const std::string backward = std::string("__r") + symbol + "__";
  const std::string signature = "(self, other: object) -> Value";
  value.def(
      forward.c_str(), [op](const nb::object& a, const nb::object& b) { return call_op(op, a, b); },
      nb::arg().none(), nb::sig(("def " + forward + signature).c_str()));
  value.def(
      backward.c_str(),
      [op](const nb::object& a, const nb::object& b) { return call_op(op, b, a); },
      nb::arg().none(), nb::sig(("def " + backward + signature).c_str()));
}

// The name stands for the operator and for the function.
template <class Class>
void bind_equality(Class& value, const char* op) {
  const std::string name = std::string("__") + op + "__";
  value.def(
      name.c_str(), [op](const nb::object& a, const nb::object& b) { return call_op(op, a, b); },
      nb::arg().none(), nb::sig(("def " + name + "(self, other: object) -> typing.Any").c_str()));
}

template <class Class>
void bind_comparison(Class& value, const char* op) {
  const std::string name = std::string("__") + op + "__";
  value.def(
      name.c_str(),
      [op](const nb::object& a, const nb::object& b) {
        return nb::module_::import_("thimble.ops").attr(op)(a, b);
      },
      nb::sig(("def " + name + "(self, other: object) -> Value").c_str()));
}

void bind_value(nb::module_& m) {
  nb::class_<PyValue> value(m, "Value",
                            "A tensor of a graph. Operators work as on NumPy arrays: + - * / @, "
                            "** with a number, comparisons (== and != too), indexing with numbers, "
                            "slices, masks and arrays. As a key it is itself alone.");
  value
      .def_prop_ro(
          "shape", [](const PyValue& v) { return shape_tuple(v.value.shape()); },
          nb::sig("def shape(self) -> tuple[int, ...]"),
          "Sizes, outermost first; the open batch is -1.")
      .def_prop_ro(
          "ndim", [](const PyValue& v) { return v.value.shape().rank(); }, "Number of dimensions.")
      .def_prop_ro(
          "dtype", [](const PyValue& v) { return std::string(to_string(v.value.dtype())); },
          "Element type: \"f32\", \"i32\", ...")
      .def_prop_ro(
          "quantization",
          [](const PyValue& v) -> Given {
            const Quantization* const q = v.value.quantization();
            return q == nullptr ? Given() : Given(*q);
          },
          "The numbers that its integers stand for; None where they stand for themselves.")
      .def_prop_ro(
          "name", [](const PyValue& v) { return v.value.name(); }, "Its name in the graph.")
      .def_prop_ro("graph", [](const PyValue& v) { return v.owner; })
      .def("__repr__", [](const PyValue& v) {
        return "<thimble.Value " + v.value.name() + ": " +
               ir::to_string(v.owner->ir().type(v.value.id())) + ">";
      });
  bind_operator(value, "add", "add");
  bind_operator(value, "sub", "sub");
  bind_operator(value, "mul", "mul");
  bind_operator(value, "truediv", "div");
  bind_operator(value, "matmul", "matmul");
  bind_operator(value, "pow", "power");
  for (const char* const op : {"lt", "le", "gt", "ge"}) bind_comparison(value, op);
  for (const char* const op : {"eq", "ne"}) bind_equality(value, op);
  value
      // By identity, so that values may be keys although == is an op.
      .def("__hash__", [](const nb::object& a) { return reinterpret_cast<intptr_t>(a.ptr()); })
      .def(
          "__neg__",
          [](const nb::object& a) { return nb::module_::import_("thimble.ops").attr("neg")(a); },
          nb::sig("def __neg__(self) -> Value"))
      .def(
          "__getitem__",
          [](const nb::object& a, const nb::object& key) {
            return nb::module_::import_("thimble._indexing").attr("index")(a, key);
          },
          nb::arg("key").none(), nb::sig("def __getitem__(self, key: object) -> Value"))
      .def("__bool__",
           [](const PyValue&) -> bool {
             throw nb::type_error(
                 "a Value has no truth while the graph is described; choose with thimble.where");
           })
      .def(
          "__array__",
          [](const PyValue&, const nb::args&, const nb::kwargs&) -> nb::object {
            throw nb::type_error(
                "a Value holds no numbers while the graph is described; use the functions of "
                "thimble on it, not those of NumPy");
          },
          nb::sig("def __array__(self, *args: object, **kwargs: object) -> typing.NoReturn"))
      .def("__len__",
           [](const nb::object& a) {
             return nb::cast<int64_t>(nb::module_::import_("thimble._indexing").attr("length")(a));
           })
      .def(
          "__iter__",
          [](const nb::object& a) {
            return nb::module_::import_("thimble._indexing").attr("rows")(a);
          },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[Value]"));
  // Makes NumPy leave mixed arithmetic to the operators above.
  value.attr("__array_ufunc__") = nb::none();
}

// The shape that a user gave a source.
Shape given_shape(const nb::object& given, const std::string& where) {
  std::vector<int64_t> dims;
  if (nb::isinstance<nb::str>(given) || !nb::try_cast(given, dims)) {
    const std::string got = nb::cast<std::string>(nb::repr(given));
    throw nb::type_error(
        ("[" + where + "] shape must be a tuple of whole numbers such as (28, 28, 1), got " + got)
            .c_str());
  }
  return shape_from(dims, where);
}

// Functions that only the package's own files use.
void bind_internals(nb::class_<Graph>& graph) {
  graph
      .def(
          "_constant",
          [](const Owner& owner, const InputArray& array, std::string name) {
            return constant(owner, array, std::move(name), {});
          },
          nb::arg("array"), nb::arg("name") = "",
          nb::sig("def _constant(self, array: numpy.typing.NDArray[typing.Any], name: str = \"\") "
                  "-> Value"))
      .def(
          "_source",
          [](const Owner& self, const std::string& name, const std::vector<int64_t>& shape,
             const nb::object& dtype) -> PyValue {
            const ir::TensorType type{dtype_from(dtype, name), shape_from(shape, name)};
            return {self, self->ir().source(name, type, ir::Role::input)};
          },
          nb::arg("name"), nb::arg("shape"), nb::arg("dtype"))
      .def(
          "_give",
          [](Graph& self, const std::map<std::string, PyValue>& parameters) {
            std::map<std::string, Value> values;
            for (const auto& [name, given] : parameters) values[name] = given.value;
            self.ir().give(values);
          },
          nb::arg("parameters"))
      .def(
          "_size",
          [](const Graph& self) {
            return nb::make_tuple(self.ir().values.size(), self.ir().nodes.size());
          },
          nb::sig("def _size(self) -> tuple[int, int]"))
      .def("_created", &created_since, nb::arg("values") = 0,
           nb::sig("def _created(self, values: int = 0) -> dict[str, dict[str, tuple[int, ...]]]"))
      .def("_unread", &unread_since, nb::arg("values"), nb::arg("nodes"));
}

}  // namespace

void bind_graph(nb::module_& m) {
  bind_initializers(m);
  bind_quantization(m);
  nb::class_<Graph> graph(m, "Graph",
                          "A model: inputs, labels, parameters, ops between them, a loss. The "
                          "batch is left open and fixed by the trainer.");
  bind_value(m);
  const auto source = [](auto make) {
    return [make](const Owner& self, const std::string& name, const nb::object& shape,
                  const nb::object& dtype) -> PyValue {
      return {self, make(*self, name, given_shape(shape, name), dtype_from(dtype, name))};
    };
  };
  bind_internals(graph);
  graph.def(nb::init<>())
      .def(
          "input",
          [](const Owner& self, const std::string& name, const nb::object& shape,
             const nb::object& dtype, const Given& quantization) -> PyValue {
            return {self, self->input(name, given_shape(shape, name), dtype_from(dtype, name),
                                      quantization.value_or(Quantization()))};
          },
          nb::arg("name"), nb::arg("shape").none(), nb::arg("dtype") = "f32",
          nb::arg("quantization") = nb::none(),
          nb::sig("def input(self, name: str, shape: collections.abc.Sequence[int], dtype: object "
                  "= 'f32', quantization: Quantization | None = None) -> Value"),
          "A model input of shape [N, *shape]; shape is that of one sample.")
      .def("constant", &constant, nb::arg("array"), nb::arg("name") = "",
           nb::arg("quantization") = nb::none(),
           nb::sig("def constant(self, array: numpy.typing.NDArray[typing.Any], name: str = \"\", "
                   "quantization: Quantization | None = None) -> Value"),
           "A fixed tensor of these values. Arrays given to ops become constants themselves; this "
           "gives them a name, or integers their scales.")
      .def("label", source([](Graph& g, const std::string& name, const Shape& shape, DType dtype) {
             return g.label(name, shape, dtype);
           }),
           nb::arg("name"), nb::arg("shape").none() = nb::make_tuple(), nb::arg("dtype") = "i32",
           nb::sig("def label(self, name: str, shape: collections.abc.Sequence[int] = (), dtype: "
                   "object = 'i32') -> Value"),
           "A target of the training, of shape [N, *shape]; class indices by default.")
      .def(
          "parameter",
          [](const Owner& self, const std::string& name, const std::vector<int64_t>& shape,
             const std::optional<Initializer>& init, const nb::object& dtype,
             const Given& quantization) -> PyValue {
            const DType type = dtype_from(dtype, name);
            const Initializer usual = type == DType::f32 ? init::torch_default() : init::zeros();
            return {self, self->parameter(name, shape_from(shape, name), init.value_or(usual), type,
                                          quantization.value_or(Quantization()))};
          },
          nb::arg("name"), nb::arg("shape"), nb::arg("init") = nb::none(), nb::arg("dtype") = "f32",
          nb::arg("quantization") = nb::none(),
          nb::sig("def parameter(self, name: str, shape: collections.abc.Sequence[int], init: "
                  "Initializer | None = None, dtype: object = 'f32', quantization: Quantization | "
                  "None = None) -> Value"),
          "A tensor of a fixed shape, kept from step to step. Of float32 it is trained, and starts "
          "as PyTorch's weights do where no init is given; of other types it is frozen and starts "
          "from a constant.")
      .def(
          "minimize", [](Graph& g, const PyValue& loss) { g.minimize(loss.value); },
          nb::arg("loss"), "The loss, a scalar. A graph has one.")
      .def(
          "output",
          [](Graph& g, const std::string& name, const PyValue& v) { g.output(name, v.value); },
          nb::arg("name"), nb::arg("value"), "A result that predict returns under this name.")
      .def(
          "metric",
          [](Graph& g, const std::string& name, const PyValue& v) { g.metric(name, v.value); },
          nb::arg("name"), nb::arg("value"),
          "An f32 scalar to report beside the loss, averaged over samples.")
      .def("freeze", &Graph::freeze, nb::arg("pattern"),
           "Freezes the parameters whose names match (\"encoder.*\"; * stands for any characters). "
           "Returns how many matched; none is an error.")
      .def(
          "unfreeze", &Graph::unfreeze, nb::arg("pattern"),
          "The opposite of freeze, for parameters that can be trained: of f32, and the weights (i8 "
          "with a scale) and biases (i32) of quantized layers. Returns how many it is for; none is "
          "an error.")
      .def("text", &Graph::text, "One line per op: names, types, attributes.")
      .def("summary", &Graph::summary, nb::arg("parameters") = false,
           "A table of layers: name, type, output shape, parameters, inputs. With parameters also "
           "one of these: name, shape, type, bytes, trained or frozen, the layer that reads it.")
      .def("__repr__", [](const Graph& g) { return g.summary(); });
}

}  // namespace thimble::python

// ONNX models.
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <thimble/import.h>

#include "bindings.h"
#include "import/onnx/onnx.h"

namespace thimble::python {
namespace {

using importer::onnx::Tensor;

Tensor tensor_of(const InputArray& array) {
  const DType dtype = dtype_of(array.dtype(), "apply_onnx");
  const Shape shape = shape_of(array);
  std::vector<std::byte> bytes(static_cast<size_t>(size_bytes(dtype, shape)));
  if (!bytes.empty()) pack(dtype, bytes.data(), array.data(), shape.elements());
  const Array values = Array::of_bytes(dtype, shape, std::move(bytes));
  const bool is_bool = dtype == DType::boolean;
  return {is_bool ? values.cast(DType::u8) : values, is_bool};
}

namespace onnx = importer::onnx;

onnx::Attribute attribute_of(nb::handle given) {
  using Kind = onnx::Attribute::Kind;
  onnx::Attribute made;
  if (nb::isinstance<nb::str>(given)) {
    made.kind = Kind::text;
    made.text = nb::cast<std::string>(given);
  } else if (nb::isinstance<nb::float_>(given)) {
    made.kind = Kind::number;
    made.number = nb::cast<double>(given);
  } else if (nb::isinstance<nb::list>(given)) {
    made.kind = Kind::integers;
    made.integers = nb::cast<std::vector<int64_t>>(given);
  } else {
    made.kind = Kind::integer;
    made.integer = nb::cast<int64_t>(given);
  }
  return made;
}

// A node of the operator set that import_nodes names.
onnx::NodeDef node_of(const nb::tuple& given) {
  onnx::NodeDef node;
  node.op = nb::cast<std::string>(given[0]);
  node.domain = nb::cast<std::string>(given[1]);
  node.name = nb::cast<std::string>(given[2]);
  node.described = nb::cast<std::string>(given[3]);
  node.inputs = nb::cast<std::vector<std::string>>(given[4]);
  node.outputs = nb::cast<std::vector<std::string>>(given[5]);
  for (const auto& [name, value] : nb::cast<nb::dict>(given[6])) {
    node.attributes[nb::cast<std::string>(name)] = attribute_of(value);
  }
  return node;
}

using Initializers = std::map<std::string, std::pair<InputArray, bool>>;
using Infos = std::vector<std::tuple<std::string, int64_t, std::vector<int64_t>>>;

// A graph from nodes, and the layouts of its weights: (initializer, name, shape, order).
nb::tuple import_nodes(const std::string& name, int64_t opset, const nb::list& nodes,
                       const Initializers& initializers, const Infos& inputs,
                       const std::vector<std::string>& outputs) {
  onnx::Model model;
  model.opsets = {{"", opset}, {onnx::kOwnDomain, 1}};
  for (const nb::handle node : nodes) {
    model.graph.nodes.push_back(node_of(nb::cast<nb::tuple>(node)));
  }
  for (const auto& [key, given] : initializers) {
    Tensor tensor = tensor_of(given.first);
    tensor.is_weight = given.second;
    model.graph.initializers.emplace(key, std::move(tensor));
  }
  for (const auto& [key, type, dims] : inputs) {
    onnx::ValueInfo info{.name = key, .type = type, .has_shape = true, .dims = {}};
    for (const int64_t dim : dims) info.dims.push_back({dim, dim < 0 ? "batch" : ""});
    model.graph.inputs.push_back(std::move(info));
  }
  for (const std::string& key : outputs) {
    model.graph.outputs.push_back({.name = key, .type = 0, .has_shape = false, .dims = {}});
  }
  std::vector<onnx::WeightLayout> layouts;
  auto graph = std::make_shared<Graph>(onnx::graph_of(name, model, {}, &layouts));
  nb::list all;
  for (const onnx::WeightLayout& each : layouts) {
    all.append(nb::make_tuple(each.initializer, each.name, shape_tuple(each.shape), each.order));
  }
  return nb::make_tuple(graph, all);
}

}  // namespace

void bind_onnx(nb::module_& m) {
  m.def(
      "import_onnx",
      [](const std::string& path, const std::map<std::string, int64_t>& dims, bool keep_layout) {
        return from_file(path, [&] {
          return std::make_shared<Graph>(
              thimble::import_onnx(path, {.dims = dims, .keep_layout = keep_layout}));
        });
      },
      nb::arg("path"), nb::arg("dims"), nb::arg("keep_layout"));
  m.def(
      "apply_onnx",
      [](const std::string& path, const std::shared_ptr<Graph>& owner,
         const std::map<std::string, PyValue>& values,
         const std::map<std::string, InputArray>& arrays) {
        std::map<std::string, Value> given;
        for (const auto& [name, value] : values) given[name] = value.value;
        std::map<std::string, Tensor> known;
        for (const auto& [name, array] : arrays) known[name] = tensor_of(array);
        return from_file(path, [&] {
          const auto model = importer::onnx::read_model(path);
          nb::dict results;
          for (const auto& [name, value] :
               importer::onnx::apply(path, model, owner->ir(), given, known)) {
            results[name.c_str()] = PyValue{owner, value};
          }
          return results;
        });
      },
      nb::arg("path"), nb::arg("graph"), nb::arg("values"), nb::arg("arrays"));
  m.attr("OPEN_BATCH") = kBatch;
  m.def("import_nodes", &import_nodes, nb::arg("name"), nb::arg("opset"), nb::arg("nodes"),
        nb::arg("initializers"), nb::arg("inputs"), nb::arg("outputs"));
}

}  // namespace thimble::python

#include "io/model/model.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <memory>
#include <utility>

#include "io/model/graph_json.h"

namespace thimble::io {
namespace {

bool is_constant(const ir::ValueData& data) {
  return data.producer < 0 && data.role == ir::Role::constant;
}

Array constant_of(const Safetensors& file, const ir::ValueData& data) {
  const ir::TensorType& type = data.type;
  const TensorView* const tensor = file.find(*data.name);
  if (tensor == nullptr) {
    throw Error(file.name(),
                fmt::format("the tensor {} is missing, a constant of its graph", *data.name));
  }
  if (tensor->dtype != file_dtype(type.dtype) || tensor->shape != type.shape) {
    throw Error(file.name(), fmt::format("the tensor {} is {}{}, its graph says {}", *data.name,
                                         to_string(tensor->dtype), to_string(tensor->shape),
                                         ir::to_string(type)));
  }
  std::vector<std::byte> bytes;
  bytes.reserve(static_cast<size_t>(file_bytes(type.dtype, type.shape)));
  file.scan(*tensor, [&](size_t, std::span<const std::byte> part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  });
  if (is_packed(type.dtype)) {
    bytes = packed(file.name() + ": " + *data.name, type.dtype, type.shape, bytes);
  }
  return Array::of_bytes(type.dtype, type.shape, std::move(bytes));
}

// values: must outlive it.
TensorView view_of(const std::string& name, const Array& values) {
  TensorView view{.name = name,
                  .dtype = file_dtype(values.dtype()),
                  .shape = values.shape(),
                  .bytes = values.bytes()};
  if (!is_packed(values.dtype())) return view;
  const auto held = std::make_shared<std::vector<std::byte>>();
  view.bytes = {};
  view.fetch = [&values, held] {
    *held = unpacked(values.dtype(), values.shape(), values.bytes());
    return std::span<const std::byte>(*held);
  };
  return view;
}

}  // namespace

void add_model(const ModelParts& model, Metadata& metadata, std::vector<TensorView>& tensors) {
  metadata[kGraphKey] = model.graph;
  for (const auto& [name, values] : model.constants) tensors.push_back(view_of(name, values));
}

ModelParts parts_of(const ir::Graph& graph) {
  ModelParts parts{graph_to_json(graph), {}, {}};
  for (const ir::ValueData& data : graph.values) {
    if (is_constant(data)) parts.constants.emplace_back(*data.name, *data.data);
  }
  return parts;
}

void add_model(const ir::Graph& graph, Metadata& metadata, std::vector<TensorView>& tensors) {
  metadata[kGraphKey] = graph_to_json(graph);
  for (const ir::ValueData& data : graph.values) {
    if (is_constant(data)) tensors.push_back(view_of(*data.name, *data.data));
  }
}

ir::Graph read_model(const Safetensors& file) {
  const auto text = file.metadata().find(kGraphKey);
  if (text == file.metadata().end()) {
    throw Error(
        file.name(),
        "holds weights and no graph, so it is no model file; name the recipe they belong to "
        "and give this file as its weights (on the command line --checkpoint or "
        "--weights), or make a model file of both with thimble save");
  }
  ir::Graph graph = graph_from_json(file.name(), text->second);
  for (ir::ValueData& data : graph.values) {
    if (is_constant(data)) data.data = constant_of(file, data);
  }
  return graph;
}

}  // namespace thimble::io

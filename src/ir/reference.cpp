#include "ir/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace thimble::ir {

size_t byte_size(const TensorType& type, Precision precision) {
  const size_t bytes = static_cast<size_t>(size_bytes(type.dtype, type.shape));
  return precision == Precision::f64 && type.dtype == DType::f32 ? 2 * bytes : bytes;
}

Bytes to_bytes(const std::vector<double>& values, Precision precision) {
  if (precision == Precision::f32) {
    return to_bytes(std::vector<float>(values.begin(), values.end()), precision);
  }
  Bytes bytes(values.size() * sizeof(double));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

Bytes to_bytes(const Array& values, Precision precision) {
  if (values.dtype() == DType::f32) {
    const std::span<const float> numbers = values.as<float>();
    return to_bytes(std::vector<float>(numbers.begin(), numbers.end()), precision);
  }
  return {values.bytes().begin(), values.bytes().end()};
}

Bytes to_bytes(const std::vector<float>& values, Precision precision) {
  if (precision == Precision::f64) {
    return to_bytes(std::vector<double>(values.begin(), values.end()), precision);
  }
  Bytes bytes(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<double> to_doubles(const Bytes& bytes, Precision precision) {
  if (precision == Precision::f64) {
    std::vector<double> values(bytes.size() / sizeof(double));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return {values.begin(), values.end()};
}

std::vector<Bytes> run_reference_node(const Graph& graph, const Node& node,
                                      const std::vector<const Bytes*>& inputs,
                                      Precision precision) {
  const OpDef& op = *node.op;
  if (node.tiled) throw Error(op.name, "a tiled update has no reference run");
  const ChosenKernels kernels = kernels_of(graph, node);
  const KernelFn kernel = precision == Precision::f64 ? kernels.ref64 : kernels.ref;
  if (kernel == nullptr) {
    throw Error(op.name,
                precision == Precision::f64 ? "has no double-precision kernel" : "has no kernel");
  }
  std::vector<const TensorType*> input_types;
  std::vector<const void*> sources;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    input_types.push_back(node.inputs[i] < 0 ? nullptr : &graph.type(node.inputs[i]));
    sources.push_back(inputs[i] == nullptr ? nullptr : inputs[i]->data());
  }
  sources.resize(std::max(sources.size(), op.signature.inputs.size()), nullptr);
  std::vector<TensorType> output_types;
  std::vector<Bytes> outputs;
  for (int id : node.outputs) {
    output_types.push_back(graph.type(id));
    outputs.emplace_back(byte_size(graph.type(id), precision));
  }
  for (const Alias& update : op.memory.updates) {
    if (node.input(update.in) < 0) continue;
    outputs[static_cast<size_t>(update.out)] = *inputs[static_cast<size_t>(update.in)];
  }
  std::vector<void*> destinations;
  for (Bytes& output : outputs) destinations.push_back(output.data());
  const Params params = kernels.params({node.attrs, input_types, output_types});
  // As much as the fast kernel where that takes more, for numbers that may be twice as large.
  Bytes workspace(2 * static_cast<size_t>(std::max(kernels.workspace(params, 1, false),
                                                   kernels.workspace(params, 1, true))));
  kernel({destinations.data(), sources.data(), workspace.data(), params.bytes().data(),
          static_cast<int>(node.inputs.size()), static_cast<int>(node.outputs.size()), nullptr});
  return outputs;
}

std::vector<Bytes> run_reference(const Graph& graph, std::map<int, Bytes> sources,
                                 Precision precision) {
  std::vector<Bytes> values(graph.values.size());
  for (size_t id = 0; id < values.size(); ++id) {
    const ValueData& data = graph.values[id];
    if (data.producer >= 0) continue;
    if (data.role == Role::constant) {
      values[id] = to_bytes(*data.data, precision);
      continue;
    }
    const auto found = sources.find(static_cast<int>(id));
    if (found == sources.end()) throw Error("reference", "no contents for " + data.name);
    if (found->second.size() != byte_size(data.type, precision)) {
      throw Error("reference", fmt::format("{} takes {} bytes, got {}", data.name,
                                           byte_size(data.type, precision), found->second.size()));
    }
    values[id] = std::move(found->second);
  }
  for (const Node& node : graph.nodes) {
    std::vector<const Bytes*> inputs;
    for (int id : node.inputs)
      inputs.push_back(id < 0 ? nullptr : &values[static_cast<size_t>(id)]);
    std::vector<Bytes> outputs = run_reference_node(graph, node, inputs, precision);
    for (size_t i = 0; i < outputs.size(); ++i) {
      values[static_cast<size_t>(node.outputs[i])] = std::move(outputs[i]);
    }
  }
  return values;
}

}  // namespace thimble::ir

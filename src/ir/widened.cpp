#include "ir/widened.h"

#include <fmt/format.h>

#include <cstring>

namespace thimble::ir {
namespace {

uint8_t narrow_kind(DType dtype) { return dtype == DType::f16 ? 1 : dtype == DType::bf16 ? 2 : 0; }

TensorType widened(const TensorType& type) {
  return narrow_kind(type.dtype) == 0 ? type : TensorType{DType::f32, type.shape};
}

}  // namespace

Params widened_params(const OpDef& op, const KernelContext& c) {
  const size_t count = c.inputs.size() + c.outputs.size();
  if (count > kMostWidened || std::strlen(op.name) >= kLongestOpName) {
    throw Error(op.name, fmt::format("takes f16 and bf16 with at most {} inputs and outputs, got "
                                     "{}: cast to f32 first",
                                     kMostWidened, count));
  }
  if (find_op(op.name) != &op) {
    throw Error(op.name, "takes f16 and bf16 only where it is an op of the library: cast to f32");
  }
  WidenedHeader header{};
  std::memcpy(header.op, op.name, std::strlen(op.name));
  header.inputs = static_cast<int32_t>(c.inputs.size());
  header.outputs = static_cast<int32_t>(c.outputs.size());
  std::vector<TensorType> inputs(c.inputs.size());
  std::vector<const TensorType*> pointers(c.inputs.size(), nullptr);
  size_t at = 0;
  for (size_t i = 0; i < c.inputs.size(); ++i, ++at) {
    if (c.inputs[i] == nullptr) continue;
    header.elements[at] = c.inputs[i]->shape.elements();
    header.narrow[at] = narrow_kind(c.inputs[i]->dtype);
    inputs[i] = widened(*c.inputs[i]);
    pointers[i] = &inputs[i];
  }
  std::vector<TensorType> outputs;
  for (const TensorType& output : c.outputs) {
    header.elements[at] = output.shape.elements();
    header.narrow[at++] = narrow_kind(output.dtype);
    outputs.push_back(widened(output));
  }
  std::vector<std::byte> bytes(kWidenedParams);
  std::memcpy(bytes.data(), &header, sizeof header);
  if (op.kernels.params != nullptr) {
    const Params inner = op.kernels.params({c.attrs, pointers, outputs});
    bytes.insert(bytes.end(), inner.bytes().begin(), inner.bytes().end());
  }
  return Params::of_bytes(std::span<const std::byte>(bytes));
}

Params narrow_params(const Params& params) {
  return Params::of_bytes(std::span(params.bytes()).subspan(kWidenedParams));
}

int64_t widened_workspace(const OpDef& op, const Params& params, int threads, bool fast) {
  const auto header = params.as<WidenedHeader>();
  int64_t bytes = 0;
  for (int i = 0; i < header.inputs + header.outputs; ++i) {
    if (header.narrow[i] != 0) bytes += widened_bytes(header.elements[i]);
  }
  if (fast && op.kernels.fast != nullptr && op.kernels.workspace != nullptr) {
    bytes += op.kernels.workspace(narrow_params(params), threads);
  }
  return bytes;
}

}  // namespace thimble::ir

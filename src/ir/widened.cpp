#include "ir/widened.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "ir/widened_sharing.h"

namespace thimble::ir {
namespace {

// Bytes of the f32 copies of a block, an eighth of all within these limits: they stay in the
// second-level cache, and a block's call has enough work to outweigh its fixed cost.
constexpr int64_t kLeastBlockBytes = int64_t{128} << 10;
constexpr int64_t kMostBlockBytes = int64_t{512} << 10;
// Of a call that sums over blocks: kernels of such sums do much work that does not grow with them.
constexpr int64_t kLeastSumBlockBytes = int64_t{256} << 10;

uint8_t narrow_kind(DType dtype) { return dtype == DType::f16 ? 1 : dtype == DType::bf16 ? 2 : 0; }

TensorType widened(const TensorType& type) {
  return narrow_kind(type.dtype) == 0 ? type : TensorType{DType::f32, type.shape};
}

// How a call is divided: rows run over the first `axes` axes together.
struct Division {
  RowBlocks tensors;
  int axes = 1;
};

// The context of a call with owned, widened types.
class WideContext {
 public:
  explicit WideContext(const KernelContext& c) : attrs_(c.attrs), inputs_(c.inputs.size()) {
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      given_.push_back(c.inputs[i] != nullptr);
      if (c.inputs[i] != nullptr) inputs_[i] = widened(*c.inputs[i]);
    }
    for (const TensorType& output : c.outputs) outputs_.push_back(widened(output));
    point();
  }
  WideContext(const WideContext& other)
      : attrs_(other.attrs_),
        inputs_(other.inputs_),
        outputs_(other.outputs_),
        given_(other.given_) {
    point();
  }
  WideContext& operator=(const WideContext&) = delete;

  [[nodiscard]] KernelContext get() const { return {attrs_, pointers_, outputs_}; }

  // The same call for so many rows of the divided tensors.
  [[nodiscard]] WideContext with_rows(const Division& division, int64_t rows) const {
    WideContext part(*this);
    for (const int input : division.tensors.inputs) {
      set_rows(part.inputs_[static_cast<size_t>(input)], rows, division.axes);
    }
    for (const int output : division.tensors.outputs) {
      set_rows(part.outputs_[static_cast<size_t>(output)], rows, division.axes);
    }
    return part;
  }

  // Whether the op's shape rule gives these outputs.
  [[nodiscard]] bool is_valid(const OpDef& op) const {
    try {
      std::vector<TensorType> outputs = op.infer({op, attrs_, pointers_});
      outputs.resize(std::min(outputs.size(), outputs_.size()));
      return outputs == outputs_;
    } catch (const Error&) {
      return false;
    }
  }

 private:
  static void set_rows(TensorType& type, int64_t rows, int axes) {
    const std::vector<int64_t>& all = type.shape.dims();
    std::vector<int64_t> dims{rows};
    dims.insert(dims.end(), all.begin() + axes, all.end());
    type.shape = Shape(std::move(dims));
  }
  void point() {
    pointers_.clear();
    for (size_t i = 0; i < inputs_.size(); ++i) {
      pointers_.push_back(given_[i] ? &inputs_[i] : nullptr);
    }
  }

  const Attrs& attrs_;
  std::vector<TensorType> inputs_;
  std::vector<TensorType> outputs_;
  std::vector<bool> given_;
  std::vector<const TensorType*> pointers_;
};

// The rows of an elementwise op: over all axes that broadcast inputs do not have, or the first.
Division elementwise_division(const KernelContext& c) {
  Division division;
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    division.tensors.outputs.push_back(static_cast<int>(i));
  }
  const Shape& out = c.outputs[0].shape;
  std::vector<int> whole;     // inputs of the output's shape
  std::vector<int> like_out;  // with the same first axis
  int others = 0;             // rank of the others
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    if (c.inputs[i] == nullptr || out.rank() == 0) continue;
    const Shape& in = c.inputs[i]->shape;
    if (in == out) {
      whole.push_back(static_cast<int>(i));
    } else {
      others = std::max(others, in.rank());
    }
    if (in.rank() == out.rank() && in[0] == out[0]) like_out.push_back(static_cast<int>(i));
  }
  const bool merges = others < out.rank();
  division.tensors.inputs = merges ? whole : like_out;
  division.axes = merges ? out.rank() - others : 1;
  return division;
}

// How an op can be divided, by row_blocks or its data flow.
Division declared_division(const OpDef& op, const KernelContext& c) {
  if (op.flow.row_wise != nullptr && op.flow.row_wise(c)) return {{{0}, {0}}, c.in(0).rank() - 1};
  if (op.kernels.row_blocks != nullptr) return {op.kernels.row_blocks(c)};
  if (op.flow.reads_rng || !op.memory.updates.empty() || !op.flow.elementwise) return {};
  return elementwise_division(c);
}

int64_t rows_of(const TensorType& type, int axes) {
  int64_t rows = 1;
  for (int axis = 0; axis < axes; ++axis) rows *= type.shape[axis];
  return rows;
}

// Bytes of a row; 0 if rows do not begin at whole bytes.
int64_t row_bytes(const TensorType& type, int64_t rows) {
  const int64_t bytes = size_bytes(type.dtype, type.shape);
  const int64_t row = size_bytes(type.dtype, Shape{type.shape.elements() / rows});
  return row * rows == bytes ? row : 0;
}

// The division of a call, or none.
std::optional<Division> division_of(const OpDef& op, const KernelContext& c, int64_t& rows) {
  Division division = declared_division(op, c);
  auto& [inputs, outputs] = division.tensors;
  std::erase_if(inputs,
                [&c](int input) { return c.inputs[static_cast<size_t>(input)] == nullptr; });
  const int axes = division.axes;
  if (inputs.empty() || axes < 1 || c.in(inputs[0]).rank() < axes) return {};
  rows = rows_of(*c.inputs[static_cast<size_t>(inputs[0])], axes);
  if (rows < 2) return {};
  const auto is_divisible = [rows, axes](const TensorType& type) {
    return type.shape.rank() >= axes && rows_of(type, axes) == rows && row_bytes(type, rows) > 0;
  };
  for (const int input : inputs) {
    if (!is_divisible(*c.inputs[static_cast<size_t>(input)])) return {};
  }
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    const bool is_divided =
        std::find(outputs.begin(), outputs.end(), static_cast<int>(i)) != outputs.end();
    const bool is_float = widened(c.outputs[i]).dtype == DType::f32;
    if (is_divided ? !is_divisible(c.outputs[i]) : !is_float) return {};
  }
  return division;
}

Params inner_params(const OpDef& op, const WideContext& c) {
  return op.kernels.params == nullptr ? Params() : op.kernels.params(c.get());
}

WidenedHeader header_of(const OpDef& op, const KernelContext& c) {
  WidenedHeader header{};
  std::memcpy(header.op, op.name, std::strlen(op.name));
  header.inputs = static_cast<int32_t>(c.inputs.size());
  header.outputs = static_cast<int32_t>(c.outputs.size());
  header.rows = 1;
  header.block_rows = 1;
  size_t at = 0;
  for (const TensorType* const input : c.inputs) {
    if (input != nullptr) {
      header.elements[at] = input->shape.elements();
      header.narrow[at] = narrow_kind(input->dtype);
    }
    ++at;
  }
  for (const TensorType& output : c.outputs) {
    header.elements[at] = output.shape.elements();
    header.narrow[at++] = narrow_kind(output.dtype);
  }
  return header;
}

// Divides the call where its copies are large.
void divide(WidenedHeader& header, const OpDef& op, const KernelContext& c, const WideContext& wide,
            Division& division) {
  int64_t rows = 1;
  const std::optional<Division> found = division_of(op, c, rows);
  if (!found) return;
  std::vector<char> divided(c.inputs.size() + c.outputs.size(), 0);
  for (const int input : found->tensors.inputs) divided[static_cast<size_t>(input)] = 1;
  for (const int output : found->tensors.outputs)
    divided[c.inputs.size() + static_cast<size_t>(output)] = 1;
  int64_t copied = 0;  // of divided tensors
  int64_t whole = 0;   // of the others
  int64_t sums = 0;    // of outputs that a block adds to
  for (size_t i = 0; i < divided.size(); ++i) {
    const int64_t bytes = 4 * header.elements[i];
    if (divided[i] == 0) whole = std::max(whole, bytes);
    if (divided[i] == 0 && i >= c.inputs.size()) sums += bytes;
    if (divided[i] != 0 && header.narrow[i] != 0) copied += bytes;
  }
  // Inputs that each block reads whole, such as packed weights, must not outweigh a block.
  const int64_t least = sums > 0 ? kLeastSumBlockBytes : kLeastBlockBytes;
  const int64_t usual = std::clamp(copied / 8, least, kMostBlockBytes);
  const int64_t block =
      std::max<int64_t>(1, rows * std::max(usual, whole) / std::max<int64_t>(copied, 1));
  // The sums of a block, beside those of all, must not take what the smaller copies save.
  if (block < rows && copied - copied / rows * block <= sums) return;
  if (block >= rows || !wide.with_rows(*found, block).is_valid(op)) return;
  header.rows = rows;
  header.block_rows = block;
  for (size_t i = 0; i < divided.size(); ++i) {
    if (divided[i] == 0) continue;
    const bool is_input = i < c.inputs.size();
    header.row_bytes[i] = row_bytes(is_input ? *c.inputs[i] : c.outputs[i - c.inputs.size()], rows);
  }
  division = *found;
}

// Divides the result, where its copy is large, by what the op can compute of it alone. whole: the
// parameters of the f32 kernel.
void divide_result(WidenedHeader& header, const OpDef& op, const KernelContext& c,
                   const Params& whole) {
  if (header.rows > 1 || op.memory.part.rows == nullptr || c.outputs.size() != 1) return;
  if (header.narrow[header.inputs] == 0 || whole.bytes().size() > kMostPartParams) return;
  const int64_t copied = 4 * header.elements[header.inputs];
  const int64_t step = op.memory.part.rows(whole);
  if (copied <= kMostBlockBytes || step == 0) return;
  const int64_t rows = c.outputs[0].shape[0];
  const int64_t block = std::max<int64_t>(1, rows * kLeastBlockBytes / copied / step) * step;
  if (block >= rows || row_bytes(c.outputs[0], rows) == 0) return;
  header.rows = rows;
  header.block_rows = block;
  header.row_bytes[header.inputs] = row_bytes(c.outputs[0], rows);
}

// The parameters of the f32 kernel for the first rows of the result.
Params part_params(const OpDef& op, const Params& whole, int64_t rows) {
  alignas(16) std::byte own[kMostPartParams] = {};
  std::copy(whole.bytes().begin(), whole.bytes().end(), own);
  op.memory.part.part(own, 0, rows);
  return Params::of_bytes(std::span(own).first(whole.bytes().size()));
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
  const WideContext wide(c);
  WidenedHeader header = header_of(op, c);
  Division division;
  divide(header, op, c, wide, division);
  std::vector<Params> inner{inner_params(op, wide)};
  divide_result(header, op, c, inner[0]);
  const int64_t last = header.rows - (header.blocks() - 1) * header.block_rows;
  if (computes_parts(header)) {
    inner.push_back(part_params(op, inner[0], header.block_rows));
    inner.push_back(part_params(op, inner[0], last));
  } else if (header.rows > 1) {
    inner.push_back(inner_params(op, wide.with_rows(division, header.block_rows)));
    inner.push_back(inner_params(op, wide.with_rows(division, last)));
  }
  header.params_bytes = static_cast<int32_t>(inner[0].bytes().size());
  std::vector<std::byte> bytes(inner_params_at(header, WidenedRows::all));
  for (size_t i = 0; i < inner.size(); ++i) {
    bytes.resize(inner_params_at(header, static_cast<WidenedRows>(i)));
    const auto own = inner[i].bytes();
    bytes.insert(bytes.end(), own.begin(), own.end());
  }
  std::memcpy(bytes.data(), &header, sizeof header);
  return Params::of_bytes(bytes);
}

Params narrow_params(const Params& params, WidenedRows rows) {
  const auto header = params.as<WidenedHeader>();
  return Params::of_bytes(
      std::span(params.bytes())
          .subspan(inner_params_at(header, rows), static_cast<size_t>(header.params_bytes)));
}

int64_t widened_workspace(const OpDef& op, const Params& params, int threads, bool fast) {
  const auto header = params.as<WidenedHeader>();
  const std::vector<int>& own = op.kernels.inputs_16bit;
  if (fast && op.kernels.fast_16bit != nullptr &&
      std::all_of(own.begin(), own.end(), [&header](int i) { return header.narrow[i] != 0; })) {
    const auto bytes = op.kernels.workspace_16bit;
    return bytes == nullptr ? 0 : bytes(narrow_params(params), threads);
  }
  int64_t bytes = 0;
  for (int i = 0; i < header.inputs + header.outputs; ++i) {
    const int64_t copied = fast ? header.copied(i) : header.elements[i];
    const bool shares = fast && input_sharing_copy(op, header, i) >= 0;
    if (header.narrow[i] != 0 && !shares) bytes += widened_bytes(copied);
    if (header.is_sum(i) && fast) bytes += widened_bytes(header.elements[i]);
  }
  if (!fast || op.kernels.fast == nullptr || op.kernels.workspace == nullptr) return bytes;
  if (header.rows == 1) return bytes + op.kernels.workspace(narrow_params(params), threads);
  return bytes +
         std::max(op.kernels.workspace(narrow_params(params, WidenedRows::block), threads),
                  op.kernels.workspace(narrow_params(params, WidenedRows::last_block), threads));
}

}  // namespace thimble::ir

// The part of an op's definition (OpDef) that says what the op becomes where a network is
// quantized.
#pragma once

#include <thimble/requantization.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/op_context.h"

namespace thimble::ir {

// What the int8 form of a node is built from.
struct QuantizeContext {
  const OpDef& op;
  const Attrs& attrs;  // of the node on f32
  // In the new graph: i8 with one scale each. Of an op with weights (QuantizeRule::weights) the
  // first is such a value, the weight i8 with a scale for each output channel, the bias i32.
  std::span<const Value> inputs;
  // Scale and zero point for a result that may have any.
  double scale = 1.0;
  int64_t zero_point = 0;
  Requantization requantization = Requantization::floating;

  [[nodiscard]] Value input(int i) const {
    return static_cast<size_t>(i) < inputs.size() ? inputs[static_cast<size_t>(i)] : Value();
  }
};

// Where an op has its weights, and in which form its int8 form takes them.
struct WeightLayout {
  int weight = 1;  // number of the input
  int bias = 2;    // of an input that may be left out: one number an output channel
  // The axis of the weight (of f32) that counts output channels: of a group, if there are several,
  // which then share the scales.
  int channels = 0;
  bool transposed = false;  // the int8 form takes the matrix with its axes swapped
};

// An op that scales and shifts each channel (last axis) of its first input: act(x * scale + shift).
struct ChannelScaling {
  std::vector<double> scale;
  std::vector<double> shift;
  Activation activation = Activation::none;
};

struct QuantizeRule {
  // Builds the op on int8; the results have scales of their own. Throws Error where this node has
  // no int8 form. Null: the op has none.
  std::vector<Value> (*build)(const QuantizeContext&) = nullptr;
  // For an op with weights: where they are; none: this node has none. Such an op is worth making
  // its input int8; any other becomes int8 where an input is. Null: the op has no weights.
  std::optional<WeightLayout> (*weights)(const KernelContext&) = nullptr;
  // The result takes any scale, so that a clamp after it costs nothing: the bounds of int8 are
  // those of the clamp.
  bool rescales = false;
  // Whether the op is its input between two bounds, with 0 among them. Null: it is not.
  bool (*clamps)(const Attrs&) = nullptr;
  // What the op does to channels, from the values of its inputs (null: not known); for the weights
  // of the op before it to take over. Null, or none: it is no such op.
  std::optional<ChannelScaling> (*scaling)(const Attrs&,
                                           std::span<const Array* const> inputs) = nullptr;
  // Of an op with a scaling: act(x * weight + bias) by a layer that has weights of its own, for
  // where no op before it takes the scaling over. weight: [C, 1, 1, 1], bias: [C], of the graph of
  // x.
  Value (*scaling_layer)(Value x, Value weight, Value bias, Activation activation) = nullptr;
  // The op that makes f32 values int8 (one op of the library): its attributes. Null: it is not.
  Attrs (*to_int8)(double scale, int64_t zero_point, Requantization) = nullptr;
  bool to_f32 = false;  // the op that makes f32 of int8 (one op of the library)
};

// QuantizeRule::build for an op that takes int8 as it takes f32 and keeps the scale.
[[nodiscard]] std::vector<Value> same_op_on_int8(const QuantizeContext& c);

// The op of the library with QuantizeRule::to_int8, and the one that is to_f32.
[[nodiscard]] const OpDef& quantize_op();
[[nodiscard]] const OpDef& dequantize_op();

}  // namespace thimble::ir

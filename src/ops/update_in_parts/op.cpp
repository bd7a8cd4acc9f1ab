#include <algorithm>
#include <cstring>

#include "ir/graph.h"
#include "ops/update_in_parts/attrs.h"
#include "ops/update_in_parts/simd.h"

namespace thimble::ops::update_in_parts_impl {
namespace {

// Bytes of a tile of a gradient: small enough to stay in the second-level cache until it is used.
constexpr int64_t kPartBytes = int64_t{128} << 10;

// Types of the inner nodes.
struct InnerTypes {
  std::vector<const ir::TensorType*> gradient_inputs;
  ir::TensorType gradient;
  std::vector<const ir::TensorType*> update_inputs;
};

// inputs: of the node, from op.cpp's layout: param, lr, step, states, momentum, gradient's.
std::vector<const ir::TensorType*> update_inputs(const OpDef& update,
                                                 std::span<const ir::TensorType* const> inputs,
                                                 const ir::TensorType* gradient) {
  const auto at = [&inputs](int i) {
    return static_cast<size_t>(i) < inputs.size() ? inputs[static_cast<size_t>(i)] : nullptr;
  };
  std::vector<const ir::TensorType*> types{at(kParam), gradient, at(kRate), at(kStep)};
  const int states = static_cast<int>(update.signature.outputs.size()) - 1;
  for (int i = 0; i < states; ++i) types.push_back(at(kFirstState + i));
  if (update.optimizer.momentum != nullptr) types.push_back(at(kMomentum));
  return types;
}

InnerTypes inner_types(const UpdateInPartsAttrs& a, std::span<const ir::TensorType* const> inputs) {
  InnerTypes types;
  for (size_t i = kFirstOfGradient; i < inputs.size(); ++i) {
    types.gradient_inputs.push_back(inputs[i]);
  }
  const OpDef& op = *a.gradient.op;
  types.gradient = op.infer({op, a.gradient.attrs, types.gradient_inputs}).at(0);
  types.update_inputs = update_inputs(*a.update.op, inputs, nullptr);
  return types;
}

bool is_elementwise(const OpDef& update, const ir::Attrs& settings, const ir::TensorType& param) {
  if (!update.optimizer.elementwise || update.signature.outputs.size() > 1 + kMaxStates)
    return false;
  if (update.kernels.workspace != nullptr) return false;
  for (const ir::StateSpec& spec : update.optimizer.states(settings, param.shape)) {
    if (spec.type != param) return false;
  }
  return true;
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& a = c.attrs.as<UpdateInPartsAttrs>();
  c.require(a.gradient.op != nullptr && a.update.op != nullptr,
            "expected the ops that compute the gradient and the update");
  c.require(c.has(kParam) && c.input(kParam).shape.rank() > 0,
            "expected a parameter with dimensions");
  c.require(a.rows > 0, "expected at least one row at a time");
  c.require(a.gradient.op->signature.inputs.size() <= kMaxGradientInputs &&
                c.inputs.size() <= kFirstOfGradient + kMaxGradientInputs,
            "expected a gradient of fewer inputs");
  c.require(is_elementwise(*a.update.op, a.update.attrs, c.input(kParam)),
            "expected a rule for single elements, whose states have the parameter's type");
  InnerTypes types = inner_types(a, c.inputs);
  c.require(types.gradient == c.input(kParam), "expected a gradient of the parameter's type");
  types.update_inputs[1] = &types.gradient;
  std::vector<ir::TensorType> outputs =
      a.update.op->infer({*a.update.op, a.update.attrs, types.update_inputs});
  return outputs;
}

void copy_params(InnerParams& to, const ir::Params& params) {
  const std::vector<std::byte>& bytes = params.bytes();
  if (bytes.size() > sizeof(to.bytes)) throw Error("update_in_parts", "parameters too large");
  if (!bytes.empty()) std::memcpy(to.bytes, bytes.data(), bytes.size());
}

ir::Params inner_params(const OpDef& op, const ir::Attrs& attrs,
                        std::span<const ir::TensorType* const> inputs,
                        std::span<const ir::TensorType> outputs) {
  return op.kernels.params == nullptr ? ir::Params() : op.kernels.params({attrs, inputs, outputs});
}

ir::Params params(const ir::KernelContext& c) {
  const auto& a = c.attrs.as<UpdateInPartsAttrs>();
  InnerTypes types = inner_types(a, c.inputs);
  types.update_inputs[1] = &types.gradient;
  const Shape& param = c.in(kParam);
  UpdateInPartsDims d{};
  d.gradient = a.gradient.op;
  d.update = a.update.op;
  d.rows = param[0];
  d.part_rows = std::min(a.rows, param[0]);
  d.row_elements = param.elements() / std::max<int64_t>(1, param[0]);
  const ir::Params gradient =
      inner_params(*a.gradient.op, a.gradient.attrs, types.gradient_inputs, {&types.gradient, 1});
  copy_params(d.gradient_params, gradient);
  copy_params(d.update_params,
              inner_params(*a.update.op, a.update.attrs, types.update_inputs, c.outputs));
  d.flops = a.gradient.op->kernels.flops == nullptr ? 0.0 : a.gradient.op->kernels.flops(gradient);
  d.part_bytes = bytes_of_part(d);
  return d;
}

const OpDef& update_in_parts_op();

// Rows that the gradient can be computed by; 0: none.
int64_t rows_at_a_time(const ir::Graph& graph, const ir::Node& gradient) {
  std::vector<const ir::TensorType*> inputs;
  for (const int id : gradient.inputs) inputs.push_back(id < 0 ? nullptr : &graph.type(id));
  return gradient.op->memory.part.rows(
      inner_params(*gradient.op, gradient.attrs, inputs, {&graph.type(gradient.outputs[0]), 1}));
}

// The inputs of the fused node.
std::vector<int> fused_inputs(const ir::Node& gradient, const ir::Node& update) {
  std::vector<int> inputs(kFirstOfGradient, -1);
  inputs[kParam] = update.input(0);
  inputs[kRate] = update.input(2);
  inputs[kStep] = update.input(3);
  const int states = static_cast<int>(update.op->signature.outputs.size()) - 1;
  for (int i = 0; i < states; ++i)
    inputs[static_cast<size_t>(kFirstState + i)] = update.input(4 + i);
  inputs[kMomentum] = update.op->optimizer.momentum == nullptr ? -1 : update.input(4 + states);
  inputs.insert(inputs.end(), gradient.inputs.begin(), gradient.inputs.end());
  return inputs;
}

// The two nodes as one: `update` reads what `gradient` computes. None where the rule looks at more
// than an element at a time, a state is not of the parameter's type, the gradient cannot be
// computed in parts to the same bits, or has not more than one.
std::optional<ir::FusedUpdate> fuse_update(const ir::Graph& graph, const ir::Node& gradient,
                                           const ir::Node& update) {
  if (gradient.op->memory.part.rows == nullptr || gradient.outputs.size() != 1) return {};
  if (!update.op->optimizer.elementwise) return {};
  if (gradient.op->signature.inputs.size() > kMaxGradientInputs) return {};
  if (gradient.inputs.size() > kMaxGradientInputs) return {};
  const ir::TensorType& param = graph.type(update.input(0));
  if (graph.type(gradient.outputs[0]) != param || param.shape.rank() == 0) return {};
  if (!is_elementwise(*update.op, update.attrs, param)) return {};
  const int64_t step = rows_at_a_time(graph, gradient);
  if (step <= 0) return {};
  const int64_t row_bytes =
      size_bytes(param.dtype, param.shape) / std::max<int64_t>(1, param.shape[0]);
  const int64_t rows =
      std::max<int64_t>(1, kPartBytes / std::max<int64_t>(1, step * row_bytes)) * step;
  if (rows >= param.shape[0]) return {};
  return ir::FusedUpdate{&update_in_parts_op(),
                         ir::Attrs::of(UpdateInPartsAttrs{
                             {gradient.op, gradient.attrs}, {update.op, update.attrs}, rows}),
                         fused_inputs(gradient, update)};
}

const OpDef& update_in_parts_op() {
  static const OpDef def{
      .name = "update_in_parts",
      .signature{
          .doc = "A gradient of weights and the optimizer's rule in one, some rows of the "
                 "parameter at a time: the whole gradient never exists.",
          .inputs = {{"param", "[R, ...]: a parameter"},
                     {"lr", "one number: the learning rate of this step"},
                     {"step", "one i32: this update's number, from 1"},
                     {"first", "a state of the optimizer, the shape of param", true},
                     {"second", "likewise", true},
                     {"third", "likewise", true},
                     {"fourth", "likewise", true},
                     {"momentum", "one number in the place of the rule's setting", true},
                     {"inputs", "what the gradient is computed from", true}},
          .outputs = {{"param", "the same memory, updated"},
                      {"first", "likewise"},
                      {"second", "likewise"},
                      {"third", "likewise"},
                      {"fourth", "likewise"}},
          .attrs = ir::Attrs::schema_of<UpdateInPartsAttrs>(),
          .variadic_inputs = true,
      },
      .infer = infer,
      .rewrite{.fuse_update = fuse_update},
      .kernels{
          .params = params,
          .workspace = update_in_parts_workspace,
          .flops = [](const ir::Params& p) { return p.as<UpdateInPartsDims>().flops; },
          .ref = update_in_parts_ref<float>,
          .ref64 = update_in_parts_ref<double>,
          .fast = update_in_parts_fast,
      },
      .memory{.updates = {{0, kParam},
                          {1, kFirstState},
                          {2, kFirstState + 1},
                          {3, kFirstState + 2},
                          {4, kFirstState + 3}}},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::update_in_parts_impl

THIMBLE_OP_FOLDER(update_in_parts) {
  static const OpDef* const defs[] = {&update_in_parts_op()};
  return defs;
}

#include "ir/quantize_rule.h"

#include <algorithm>

#include "ir/graph.h"
#include "ir/op_def.h"

namespace thimble::ir {
namespace {

template <class Holds>
const OpDef& op_that(const Holds& holds) {
  const auto ops = all_ops();
  return **std::find_if(ops.begin(), ops.end(),
                        [&](const OpDef* op) { return holds(op->quantized); });
}

}  // namespace

std::vector<Value> same_op_on_int8(const QuantizeContext& c) {
  return c.inputs[0].graph().add(c.op, c.attrs, c.inputs);
}

const OpDef& quantize_op() {
  static const OpDef& op = op_that([](const auto& rule) { return rule.to_int8 != nullptr; });
  return op;
}

const OpDef& dequantize_op() {
  static const OpDef& op = op_that([](const auto& rule) { return rule.to_f32; });
  return op;
}

}  // namespace thimble::ir

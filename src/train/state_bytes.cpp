#include "train/state_bytes.h"

#include "train/setting_visitor.h"

namespace thimble::train {
namespace {

int64_t bytes_of(const std::vector<ir::StateSpec>& states) {
  int64_t bytes = 0;
  for (const ir::StateSpec& spec : states) bytes += size_bytes(spec.type.dtype, spec.type.shape);
  return bytes;
}

}  // namespace

int64_t saved_state_bytes(const ir::Graph& step) {
  int64_t saved = 0;
  for (const ir::Node& node : step.nodes) {
    const ir::OptimizerRule& rule = node.op->optimizer;
    if (rule.states == nullptr || rule.state_bits == nullptr) continue;
    OneSetting<int64_t> whole(rule.state_bits, 32);
    const ir::Attrs settings = node.attrs.changed(whole);
    const Shape& param = step.type(node.input(node.op->memory.updates[0].in)).shape;
    saved += bytes_of(rule.states(settings, param)) - bytes_of(rule.states(node.attrs, param));
  }
  return saved;
}

}  // namespace thimble::train

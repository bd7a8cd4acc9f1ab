#include "train/state_bytes.h"

#include <set>
#include <string_view>

#include "ir/mapped.h"
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

TrainedCounts trained_counts(const ir::Graph& step) {
  // By names: what is updated may be a parameter's copy, read from the swap file, of its name.
  std::set<std::string_view> updated;
  for (const ir::Node& node : step.nodes) {
    for (const ir::Alias& alias : node.op->memory.updates) {
      const int id = node.input(alias.in);
      if (id >= 0) updated.insert(step.data(id).name);
    }
  }
  TrainedCounts counts;
  for (const ir::ValueData& data : step.values) {
    if (data.producer >= 0 || data.role != ir::Role::parameter) continue;
    counts.parameters += data.type.shape.elements();
    if (updated.contains(data.name)) {
      counts.trained += ir::part_shape(data.type.shape, data.trained_part).elements();
    } else if (!ir::is_mapped(data.role, data.type)) {
      counts.read_only_bytes += size_bytes(data.type.dtype, data.type.shape);
    }
  }
  return counts;
}

}  // namespace thimble::train

#include "plan/node_times.h"

#include <fmt/format.h>

#include "plan/transfer_ops.h"
#include "plan/work.h"

namespace thimble::plan {
namespace {

std::string key_of(const ir::Graph& graph, const ir::Node& node) {
  std::string key = node.op->name;
  key += '(';
  key += node.attrs ? node.attrs.full_text() : "";
  if (node.tiled) {
    key += fmt::format(" {} {} {}", node.tiled->op->name, node.tiled->attrs.full_text(),
                       node.tiled->rows);
  }
  for (const int id : node.inputs) {
    key += ' ';
    key += id < 0 ? "-" : ir::to_string(graph.type(id));
  }
  return key + ')';
}

}  // namespace

void NodeTimes::set(const ir::Graph& graph, const std::vector<double>& node_ms) {
  struct Sum {
    double ms = 0.0;
    int count = 0;
  };
  std::map<std::string, Sum> sums;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (is_transfer(*graph.nodes[n].op)) continue;
    Sum& sum = sums[key_of(graph, graph.nodes[n])];
    sum.ms += node_ms[n];
    ++sum.count;
  }
  for (const auto& [key, sum] : sums) measured_[key] = sum.ms / sum.count;
}

double NodeTimes::of(const ir::Graph& graph, const ir::Node& node) const {
  if (!measured_.empty()) {
    const auto known = measured_.find(key_of(graph, node));
    if (known != measured_.end()) return known->second;
  }
  return (fast_ ? fast_flops_of(graph, node) : flops_of(graph, node)) * ms_per_flop_ +
         static_cast<double>(bytes_of(graph, node)) * ms_per_byte_;
}

std::string NodeTimes::text() const {
  std::string text = fmt::format("{} {} {}", ms_per_flop_, ms_per_byte_, fast_);
  for (const auto& [key, ms] : measured_) text += fmt::format("\n{} {}", key, ms);
  return text;
}

double NodeTimes::of(const ir::Graph& graph) const {
  double sum = 0.0;
  for (const ir::Node& node : graph.nodes) sum += of(graph, node);
  return sum;
}

}  // namespace thimble::plan

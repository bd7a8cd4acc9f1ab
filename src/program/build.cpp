#include "program/build.h"

#include <thimble/error.h>

#include <map>
#include <string_view>

namespace thimble::program {
namespace {

class Builder {
 public:
  Builder(const plan::Fitted& step, const plan::ArenaOptions& options,
          const std::vector<std::shared_ptr<const std::byte>>& constants)
      : step_(step), options_(options), constants_(constants) {
    made_.threads = options.threads;
    made_.fast = options.fast;
    made_.arena_bytes = step.arena.plan.arena_bytes;
    made_.staging_bytes = step.arena.plan.staging_bytes;
    made_.slot_bytes = step.slot_bytes;
    made_.in_file = step.in_file;
  }

  Program build() {
    const ir::Graph& graph = step_.graph;
    made_.tensors.reserve(graph.values.size());
    for (size_t id = 0; id < graph.values.size(); ++id) add_tensor(id);
    made_.calls.reserve(graph.nodes.size());
    for (size_t n = 0; n < graph.nodes.size(); ++n) add_call(n);
    made_.stored.shrink_to_fit();
    made_.constants.shrink_to_fit();
    made_.loss = graph.loss;
    made_.outputs = graph.outputs;
    made_.metrics = graph.metrics;
    return std::move(made_);
  }

 private:
  [[nodiscard]] int64_t offset(int buffer) const {
    return step_.arena.plan.buffers[static_cast<size_t>(buffer)].offset;
  }

  int64_t stored_at(const ir::ValueData& data) {
    const auto [known, is_new] =
        stored_.emplace(std::string_view(data.name), static_cast<int64_t>(made_.stored.size()));
    if (is_new) {
      made_.stored.push_back(
          {data.name, data.role, data.type, data.init, data.sums_gradients, data.average_of});
    }
    return known->second;
  }

  void add_tensor(size_t id) {
    const ir::ValueData& data = step_.graph.values[id];
    Tensor tensor{.name = data.name,
                  .type = data.type,
                  .role = data.role,
                  .storage = data.storage,
                  .recomputed = data.recomputed,
                  .fetched = data.fetched,
                  .is_source = data.producer < 0};
    if (data.role == ir::Role::constant) {
      tensor.place = Place::constant;
      tensor.at = static_cast<int64_t>(made_.constants.size());
      made_.constants.push_back(constants_[id]);
    } else if (ir::is_persistent(data.role)) {
      tensor.place = Place::stored;
      tensor.at = stored_at(data);
    } else if (const int buffer = step_.arena.buffer_of_value[id]; buffer >= 0) {
      tensor.place = Place::arena;
      tensor.at = offset(buffer);
    }
    made_.tensors.push_back(std::move(tensor));
  }

  void add_call(size_t n) {
    const ir::Graph& graph = step_.graph;
    const ir::Node& node = graph.nodes[n];
    Resolved resolved = resolve(graph, node, options_);
    Call call{.op = node.op,
              .attrs = node.attrs,
              .kernel = resolved.kernel,
              .params = std::move(resolved.params),
              .inputs = node.inputs,
              .outputs = node.outputs,
              .tiled = std::move(resolved.tiled)};
    if (const int buffer = step_.arena.workspace_of_node[n]; buffer >= 0) {
      call.workspace = offset(buffer);
      call.workspace_bytes = step_.arena.plan.buffers[static_cast<size_t>(buffer)].bytes;
    }
    if (resolved.prepared.bytes > 0) {
      made_.prepared.push_back({static_cast<int>(n), resolved.prepared});
    }
    made_.calls.push_back(std::move(call));
  }

  const plan::Fitted& step_;
  plan::ArenaOptions options_;
  const std::vector<std::shared_ptr<const std::byte>>& constants_;
  std::map<std::string_view, int64_t> stored_;
  Program made_;
};

}  // namespace

Program build(const plan::Fitted& step, const plan::ArenaOptions& options,
              const std::vector<std::shared_ptr<const std::byte>>& constants) {
  return Builder(step, options, constants).build();
}

}  // namespace thimble::program

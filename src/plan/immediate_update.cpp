#include "plan/immediate_update.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "ir/rewrite.h"
#include "ops/common/fused_update.h"
#include "plan/lifetimes.h"

namespace thimble::plan {
namespace {

struct Step {
  ir::Node node;
  int64_t workspace;
};

// A gradient and the update that alone reads it, by their places in the list of steps.
struct Pair {
  size_t gradient;
  size_t update;
};

// A list of steps and what lives at each.
struct Trial {
  std::vector<Step> steps;
  std::vector<int64_t> live;
  int64_t peak = 0;
};

class Fuser {
 public:
  Fuser(const ir::Graph& graph, const ArenaOptions& options)
      : graph_(graph), options_(options), readers_(graph.consumers()) {
    std::vector<Step> steps;
    for (const ir::Node& node : graph.nodes) {
      steps.push_back({node, workspace_bytes(graph, node, options)});
    }
    now_ = trial(std::move(steps));
  }

  // One update after the other, in their order.
  void fuse_all() {
    for (size_t at = 0; at < now_.steps.size(); ++at) {
      const std::optional<Pair> pair = pair_of(at);
      if (!pair) continue;
      std::optional<Trial> next = fused(*pair);
      if (!next) continue;
      now_ = std::move(*next);
      changed_ = true;
      at = pair->gradient;  // what stood behind it moved
    }
  }

  [[nodiscard]] ir::Graph finish() const {
    if (!changed_) return graph_;
    ir::Rewriter rewriter(graph_);
    for (const Step& step : now_.steps) rewriter.copy(step.node);
    return std::move(rewriter).finish();
  }

 private:
  // The pair whose update stands there.
  [[nodiscard]] std::optional<Pair> pair_of(size_t at) const {
    const ir::Node& update = now_.steps[at].node;
    if (update.op->optimizer.name == nullptr) return {};
    const int gradient = update.input(1);
    const std::vector<int> results = graph_.results();
    if (readers_[static_cast<size_t>(gradient)].size() != 1 ||
        std::find(results.begin(), results.end(), gradient) != results.end()) {
      return {};
    }
    for (size_t before = at; before-- > 0;) {
      const std::vector<int>& outputs = now_.steps[before].node.outputs;
      if (std::find(outputs.begin(), outputs.end(), gradient) != outputs.end()) {
        return Pair{before, at};
      }
    }
    return {};
  }

  // Whether something between the two changes what the gradient is computed from.
  [[nodiscard]] bool loses_inputs(const Pair& pair) const {
    const std::vector<int>& inputs = now_.steps[pair.gradient].node.inputs;
    for (size_t at = pair.gradient + 1; at < pair.update; ++at) {
      const ir::Node& node = now_.steps[at].node;
      for (const ir::Alias& alias : node.op->updates) {
        const int id = node.input(alias.in);
        if (id >= 0 && std::find(inputs.begin(), inputs.end(), id) != inputs.end()) return true;
      }
    }
    return false;
  }

  // The steps with the pair as one, in the place of the update: nothing that must run before an
  // update stands behind it. None where more would live meanwhile.
  [[nodiscard]] std::optional<Trial> fused(const Pair& pair) const {
    const ir::Node& gradient = now_.steps[pair.gradient].node;
    const ir::Node& update = now_.steps[pair.update].node;
    std::optional<ops::FusedUpdate> both = ops::fuse_update(graph_, gradient, update);
    if (!both || loses_inputs(pair)) return {};
    ir::Node node{both->op, std::move(both->attrs), std::move(both->inputs), update.outputs,
                  update.layer};
    std::vector<Step> steps = now_.steps;
    const int64_t workspace = workspace_bytes(graph_, node, options_);
    steps[pair.update] = {std::move(node), workspace};
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(pair.gradient));
    Trial next = trial(std::move(steps));
    const auto fullest = [](const Trial& t, size_t first, size_t last) {
      return *std::max_element(t.live.begin() + static_cast<std::ptrdiff_t>(first),
                               t.live.begin() + static_cast<std::ptrdiff_t>(last));
    };
    const bool holds = next.peak <= now_.peak && fullest(next, pair.gradient, pair.update) <=
                                                     fullest(now_, pair.gradient, pair.update + 1);
    return holds ? std::optional(std::move(next)) : std::nullopt;
  }

  [[nodiscard]] Trial trial(std::vector<Step> steps) const {
    Sequence sequence(value_bytes(graph_), graph_.results());
    for (const Step& step : steps) {
      sequence.add(*step.node.op, step.node.inputs, step.node.outputs, step.workspace);
    }
    Trial made;
    made.live = live_bytes(sequence, Sharing(sequence, options_.in_place));
    made.peak = made.live.empty() ? 0 : *std::max_element(made.live.begin(), made.live.end());
    made.steps = std::move(steps);
    return made;
  }

  const ir::Graph& graph_;
  ArenaOptions options_;
  std::vector<std::vector<int>> readers_;  // of each value
  Trial now_;
  bool changed_ = false;
};

}  // namespace

ir::Graph update_in_parts(const ir::Graph& graph, const ArenaOptions& options) {
  if (!options.fast) return graph;  // a reference kernel has no memory for a part
  Fuser fuser(graph, options);
  fuser.fuse_all();
  return fuser.finish();
}

}  // namespace thimble::plan

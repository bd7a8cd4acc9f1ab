#include "plan/update/tiled_update.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/rewrite.h"
#include "ir/tiling.h"
#include "plan/lifetimes.h"
#include "plan/nth.h"
#include "plan/order/order.h"
#include "plan/remat/recompute.h"
#include "plan/tiled_loop.h"

namespace thimble::plan {
namespace {

// Choices that are tried at most.
constexpr int kMaxRounds = 2;

// Bytes of a tile of a gradient: small enough to stay in the second-level cache until it is used.
constexpr int64_t kTileBytes = int64_t{128} << 10;
constexpr auto kGradient = static_cast<size_t>(ir::kGradientInput);

bool has_small_params(const ir::Graph& graph, const ir::Node& node) {
  return static_cast<int64_t>(kernel_params(graph, node).bytes().size()) <= kMostTiledParams;
}

// Rows that the gradient can be computed by; 0: none.
int64_t rows_at_a_time(const ir::Graph& graph, const ir::Node& gradient) {
  if (gradient.op->memory.part.rows == nullptr || gradient.outputs.size() != 1) return 0;
  if (!ir::kernels_of(graph, gradient).is_usual()) return 0;
  return gradient.op->memory.part.rows(kernel_params(graph, gradient));
}

// The two nodes as one: `update` reads what `gradient` computes. None where the rule looks at more
// than an element at a time, a state is not of the parameter's type, the gradient cannot be
// computed in tiles to the same bits, or has not more than one.
std::optional<ir::Node> tiled(const ir::Graph& graph, const ir::Node& gradient,
                              const ir::Node& update) {
  const ir::TensorType& param = graph.type(update.input(0));
  if (graph.type(gradient.outputs[0]) != param || param.shape.rank() == 0) return {};
  if (!ir::is_elementwise_update(*update.op, update.attrs, param)) return {};
  if (update.op->signature.inputs.size() > kMostTiledInputs) return {};
  if (!has_small_params(graph, update) || !has_small_params(graph, gradient)) return {};
  const int64_t step = rows_at_a_time(graph, gradient);
  if (step <= 0) return {};
  const int64_t row_bytes =
      size_bytes(param.dtype, param.shape) / std::max<int64_t>(1, param.shape[0]);
  const int64_t rows =
      std::max<int64_t>(1, kTileBytes / std::max<int64_t>(1, step * row_bytes)) * step;
  if (rows >= param.shape[0]) return {};
  ir::Node node = update;
  node.inputs.resize(update.op->signature.inputs.size(), -1);
  node.inputs[kGradient] = -1;
  node.inputs.insert(node.inputs.end(), gradient.inputs.begin(), gradient.inputs.end());
  node.tiled = std::make_shared<const ir::TiledGradient>(
      ir::TiledGradient{gradient.op, gradient.attrs, rows});
  return node;
}

struct Step {
  ir::Node node;
  int64_t workspace;
};

// A gradient and the update that alone reads it, by their places in the list of steps.
struct Pair {
  size_t gradient;
  size_t update;
};

// A list of steps, and the live bytes at each.
struct Trial {
  std::vector<Step> steps;
  std::vector<int64_t> live;
  int64_t peak = 0;
};

// Whether less lives between the two places than before, and nowhere more than at the peak.
bool saves(const Trial& before, const Trial& after, const Pair& pair) {
  const auto peak_within = [](const Trial& trial, size_t first, size_t last) {
    const auto live = std::span(trial.live).subspan(first, last - first);
    return *std::max_element(live.begin(), live.end());
  };
  return after.peak <= before.peak && peak_within(after, pair.gradient, pair.update) <
                                          peak_within(before, pair.gradient, pair.update + 1);
}

class Tiler {
 public:
  Tiler(const ir::Graph& graph, const ArenaOptions& options)
      : graph_(graph), options_(options), readers_(graph.consumers()) {
    std::vector<Step> steps;
    for (const ir::Node& node : graph.nodes) {
      steps.push_back({node, workspace_bytes(graph, node, options)});
    }
    now_ = trial(std::move(steps));
  }

  // One update after the other, in their order: those of the named parameters, or, without names,
  // those that save memory. Returns the parameters.
  std::vector<const ir::ValueData*> tile(const std::set<std::string>* names = nullptr) {
    std::vector<const ir::ValueData*> chosen;
    for (size_t at = 0; at < now_.steps.size(); ++at) {
      const std::optional<Pair> pair = pair_of(at);
      if (!pair) continue;
      std::optional<Trial> next = tiled_at(*pair);
      const ir::ValueData& param = graph_.data(now_.steps[at].node.input(0));
      if (!next) continue;
      if (names != nullptr ? names->count(param.name) == 0 : !saves(now_, *next, *pair)) continue;
      chosen.push_back(&param);
      now_ = std::move(*next);
      at = pair->gradient;  // the steps behind it moved
    }
    return chosen;
  }

  [[nodiscard]] ir::Graph finish() const {
    ir::Rewriter rewriter(graph_);
    for (const Step& step : now_.steps) rewriter.copy(step.node);
    return std::move(rewriter).finish();
  }

 private:
  // The pair whose update stands there.
  [[nodiscard]] std::optional<Pair> pair_of(size_t at) const {
    const ir::Node& update = now_.steps[at].node;
    if (update.op->optimizer.name == nullptr || update.tiled) return {};
    const int gradient = update.input(1);
    const std::vector<int> results = graph_.results();
    if (nth(readers_, gradient).size() != 1 ||
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

  // Whether a node between the two changes an input of the gradient.
  [[nodiscard]] bool loses_inputs(const Pair& pair) const {
    const std::vector<int>& inputs = now_.steps[pair.gradient].node.inputs;
    for (size_t at = pair.gradient + 1; at < pair.update; ++at) {
      const ir::Node& node = now_.steps[at].node;
      for (const ir::Alias& alias : node.op->memory.updates) {
        const int id = node.input(alias.in);
        if (id >= 0 && std::find(inputs.begin(), inputs.end(), id) != inputs.end()) return true;
      }
    }
    return false;
  }

  // The steps with the pair as one, in the place of the update: nothing that must run before an
  // update stands behind it.
  [[nodiscard]] std::optional<Trial> tiled_at(const Pair& pair) const {
    const ir::Node& gradient = now_.steps[pair.gradient].node;
    const ir::Node& update = now_.steps[pair.update].node;
    std::optional<ir::Node> node = tiled(graph_, gradient, update);
    if (!node || loses_inputs(pair)) return {};
    std::vector<Step> steps = now_.steps;
    const int64_t workspace = workspace_bytes(graph_, *node, options_);
    steps[pair.update] = {std::move(*node), workspace};
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(pair.gradient));
    return trial(std::move(steps));
  }

  [[nodiscard]] Trial trial(std::vector<Step> steps) const {
    Sequence sequence(value_bytes(graph_), graph_.results());
    for (const Step& step : steps) {
      sequence.add(*step.node.op, step.node.inputs, step.node.outputs, step.workspace);
    }
    std::vector<int64_t> live = live_bytes(sequence, Sharing(sequence, options_.in_place));
    const int64_t peak = largest(live);
    return {std::move(steps), std::move(live), peak};
  }

  const ir::Graph& graph_;
  ArenaOptions options_;
  std::vector<std::vector<int>> readers_;  // of each value
  Trial now_;
};

}  // namespace

ir::Graph tile_updates(const ir::Graph& graph, const ArenaOptions& options) {
  const bool has_updates =
      std::any_of(graph.nodes.begin(), graph.nodes.end(),
                  [](const ir::Node& node) { return node.op->optimizer.name != nullptr; });
  if (!has_updates || !options.fast) return graph;  // a reference kernel has no memory for a tile
  // Recomputation decides which values live at the same time.
  const RecomputeOptions quick{.arena = options, .quick_order = true};
  const ir::Graph settled = recompute(graph, quick);
  std::vector<const ir::ValueData*> chosen = Tiler(settled, options).tile();
  const auto is_larger = [](const ir::ValueData* a, const ir::ValueData* b) {
    return size_bytes(a->type.dtype, a->type.shape) > size_bytes(b->type.dtype, b->type.shape);
  };
  std::stable_sort(chosen.begin(), chosen.end(), is_larger);
  // With tiled updates the choice of recomputation may be worse: then the larger gradients alone.
  for (int tries = 0; tries < kMaxRounds && !chosen.empty(); ++tries) {
    std::set<std::string> names;
    for (const ir::ValueData* const each : chosen) names.insert(each->name);
    Tiler tiler(graph, options);
    tiler.tile(&names);
    ir::Graph result = tiler.finish();
    if (live_peak_bytes(recompute(result, quick), options) <= live_peak_bytes(settled, options)) {
      return result;
    }
    chosen.resize(chosen.size() / 2);
  }
  return graph;
}

}  // namespace thimble::plan

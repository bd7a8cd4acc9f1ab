// The bytes of a training step if whole gradients are kept and norms and activations are
// recomputed: the sum that one would do by hand, from the graph and without the planner.
// docs/guide/memory-bounds.md explains it.
#pragma once

#include <thimble/thimble.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "passes/passes.h"
#include "train/compile.h"

namespace thimble::test {

class HandBound {
 public:
  HandBound(const Recipe& recipe, const TrainerOptions& options)
      : graph_(passes::optimize(train::training_graph(recipe.build().ir(), options, options.batch,
                                                      train::StepKind::update))),
        loss_(graph_.data(*graph_.loss).producer),
        last_read_(graph_.values.size(), -1),
        read_late_(graph_.values.size(), 0),
        kept_(graph_.values.size(), 0) {
    find_reads();
    for (const ir::ValueData& data : graph_.values) {
      if (data.producer >= 0) continue;
      if (data.role == ir::Role::parameter) parameters += bytes(data);
      if (data.role == ir::Role::state) state += bytes(data);
    }
    gradients = parameters;
    kept = kept_before(loss_ + 1);
    for (int n = 0; n <= loss_; ++n) {
      if (!node(n).op->memory.views.empty()) continue;
      for (const int id : node(n).outputs) everything += is_passing(id) ? bytes(id) : 0;
    }
    for (int n = 0; n <= loss_; ++n) {
      if (!node(n).op->memory.views.empty() || !node(n).op->memory.updates.empty()) continue;
      if (moment_at(n) > moment) {
        moment = moment_at(n);
        binding = node(n).op->name;
        if (node(n).layer >= 0) {
          binding += " of " + graph_.layers[static_cast<size_t>(node(n).layer)].name;
        }
      }
    }
  }

  [[nodiscard]] int64_t total() const { return parameters + state + gradients + moment; }

  int64_t parameters = 0;
  int64_t state = 0;       // moments of the optimizer, running statistics
  int64_t gradients = 0;   // of all parameters
  int64_t kept = 0;        // at the end of the forward part
  int64_t moment = 0;      // kept values, gradients and recomputed values at the peak
  int64_t everything = 0;  // all bytes that the forward part computes
  std::string binding;     // the forward node in whose backward part the peak is

  // Bytes that are kept, by the op that made them; "input": the batch.
  [[nodiscard]] std::map<std::string, int64_t> kept_by_op() const {
    std::map<std::string, int64_t> sums;
    for (size_t v = 0; v < kept_.size(); ++v) {
      if (kept_[v] == 0) continue;
      const int producer = graph_.values[v].producer;
      sums[producer < 0 ? "input" : node(producer).op->name] += bytes(graph_.values[v]);
    }
    return sums;
  }

 private:
  static int64_t bytes(const ir::ValueData& data) {
    return size_bytes(data.type.dtype, data.type.shape);
  }
  [[nodiscard]] const ir::Node& node(int n) const { return graph_.nodes[static_cast<size_t>(n)]; }
  [[nodiscard]] int64_t bytes(int id) const { return bytes(graph_.data(id)); }
  [[nodiscard]] bool is_passing(int id) const {
    return id >= 0 && !ir::is_persistent(graph_.data(id).role);
  }

  // The value whose bytes a view shows.
  [[nodiscard]] int shown(int id) const {
    while (graph_.data(id).producer >= 0) {
      const ir::Node& made_by = node(graph_.data(id).producer);
      if (made_by.op->memory.views.empty()) break;
      id = made_by.input(made_by.op->memory.views[0].in);
    }
    return id;
  }

  // The value from which another one is recomputed through norms and activations.
  [[nodiscard]] int root(int id) const {
    static const std::set<std::string> kRebuilt = {
        "batch_norm", "group_norm", "layer_norm", "relu",    "relu6",
        "gelu",       "swish",      "sigmoid",    "softmax", "dropout"};
    id = shown(id);
    while (graph_.data(id).producer >= 0) {
      const ir::Node& made_by = node(graph_.data(id).producer);
      if (kRebuilt.count(made_by.op->name) == 0 || made_by.outputs[0] != id) break;
      id = shown(first_passing_input(made_by));
    }
    return id;
  }

  [[nodiscard]] int first_passing_input(const ir::Node& made_by) const {
    return *std::find_if(made_by.inputs.begin(), made_by.inputs.end(), [this](int id) {
      return is_passing(id) && graph_.type(id).dtype != DType::u32;  // not the state of the noise
    });
  }

  void find_reads() {
    for (int n = 0; n < static_cast<int>(graph_.nodes.size()); ++n) {
      for (const int id : node(n).inputs) {
        if (!is_passing(id) || graph_.data(shown(id)).producer > loss_) continue;
        if (n <= loss_) last_read_[static_cast<size_t>(shown(id))] = n;
        if (n <= loss_ || !node(n).op->memory.views.empty()) continue;
        read_late_[static_cast<size_t>(shown(id))] = 1;
        kept_[static_cast<size_t>(root(id))] = 1;
      }
    }
  }

  // The kept bytes that come from the inputs of the step and the nodes before a given one.
  [[nodiscard]] int64_t kept_before(int n) const {
    int64_t sum = 0;
    for (size_t v = 0; v < kept_.size(); ++v) {
      if (kept_[v] != 0 && graph_.values[v].producer < n) sum += bytes(graph_.values[v]);
    }
    return sum;
  }

  // Bytes while the backward part of a forward node runs: what nodes before it kept; the gradients
  // of all values that exist when it has run forward and that later nodes read; and its inputs,
  // recomputed if they are read, then replaced by their gradients. Elementwise ops and norms write
  // the gradient of their input over that of their output.
  [[nodiscard]] int64_t moment_at(int n) const {
    int64_t sum = kept_before(n);
    for (size_t v = 0; v < last_read_.size(); ++v) {
      const int producer = graph_.values[v].producer;
      if (producer >= 0 && producer <= n && last_read_[v] > n) sum += bytes(graph_.values[v]);
    }
    std::set<int> inputs;
    for (const int id : node(n).inputs) {
      if (is_passing(id)) inputs.insert(shown(id));
    }
    const bool in_place =
        node(n).op->flow.elementwise || root(node(n).outputs[0]) != node(n).outputs[0];
    for (const int id : inputs) {
      if (graph_.data(id).producer < 0) continue;
      const auto v = static_cast<size_t>(id);
      const bool is_rebuilt = read_late_[v] != 0 && kept_[v] == 0;
      if (!in_place || is_rebuilt) sum += bytes(id);
    }
    return sum;
  }

  ir::Graph graph_;
  int loss_;
  std::vector<int> last_read_;   // by value: the last forward node that reads it
  std::vector<char> read_late_;  // by value: the backward part reads it
  std::vector<char> kept_;       // by value: others are recomputed from it, or it is read itself
};

}  // namespace thimble::test

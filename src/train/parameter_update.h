// The update of one parameter in a training step.
#pragma once

#include <string>

#include "ir/graph.h"
#include "ir/optimizer_value.h"
#include "train/update.h"

namespace thimble::train {

// A parameter that is to be updated.
struct Trained {
  Value param;
  Value grad;  // of the part that is trained
  Value rows;  // row numbers if grad holds only some rows of the gradient
  int layer;   // layer of the update
  int source;  // the parameter's number before any update

  [[nodiscard]] const ir::TrainedPart& part() const {
    return param.graph().data(source).trained_part;
  }
};

// Nodes added within this scope belong to the layer, and their values have the role of gradients.
class GradientScope {
 public:
  GradientScope(ir::Graph& graph, int layer) : graph_(graph), first_(graph.values.size()) {
    graph.reopen_layer(layer);
  }
  ~GradientScope() {
    graph_.end_layer();
    for (size_t id = first_; id < graph_.values.size(); ++id) {
      ir::ValueData& data = graph_.values[id];
      if (data.role == ir::Role::activation) data.role = ir::Role::gradient;
    }
  }
  GradientScope(const GradientScope&) = delete;
  GradientScope& operator=(const GradientScope&) = delete;

 private:
  ir::Graph& graph_;
  size_t first_;
};

// The state "<parameter>.<name>", as a source. It has an @ before its name where the model has a
// value of that name.
[[nodiscard]] Value state_of(const Value& param, const ir::StateSpec& spec);

// Names of the optimizers of a kind: "adagrad, adam, ...".
[[nodiscard]] std::string names_of(bool (*wanted)(const ir::OpDef&));

// Throws for a parameter with a sparse gradient, of which `what` would change all rows.
[[noreturn]] void refuse_rows(const Trained& trained, const std::string& what,
                              const std::string& instead);

// Appends the update of a parameter of whole numbers. Its random stream is that of the parameter,
// so that programs for other batches draw the same numbers.
void append_integer_update(ir::Graph& graph, const Trained& trained,
                           const ir::OptimizerValue& optimizer, Value lr, Value number,
                           const UpdateOptions& options);

// Appends the update of one parameter by its optimizer's rule; returns the new value.
Value append_update(ir::Graph& graph, const Trained& trained, const ir::OptimizerValue& optimizer,
                    Value lr, Value number, bool scheduled_momentum);

}  // namespace thimble::train

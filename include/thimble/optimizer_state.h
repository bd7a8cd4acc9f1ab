// Optimizers as functions of parameters, gradients and what they keep: for training loops of one's
// own, where a Trainer does not serve.
#pragma once

#include <thimble/array.h>
#include <thimble/optimizer.h>
#include <thimble/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace thimble {

// The state of an optimizer for some parameters, such as moments; zero updates at first.
//
//   tb::OptimizerState state(tb::AdamW{.lr = 1e-3}, {{"weight", {10, 784}}, {"bias", {10}}});
//   state.update(parameters, trainer.gradients(samples).values);
//
// Thread safety: none. Errors: thimble::Error naming the parameter at fault, before any changes.
class OptimizerState {
 public:
  // f32 arrays by name, owning or views, of the parameter's shape or of as many elements in a row.
  // Convert other floating-point types with Array::cast; integers are not trained.
  using Values = std::map<std::string, Array>;

  // shapes: of the parameters. threads: 0 means one per processor.
  OptimizerState(const Optimizer& optimizer, const std::map<std::string, Shape>& shapes,
                 int threads = 1);
  ~OptimizerState();
  OptimizerState(OptimizerState&&) noexcept;
  OptimizerState& operator=(OptimizerState&&) noexcept;

  // One update of every parameter that has a gradient: the same bits as a Trainer's. Puts new
  // arrays into parameters, under the shapes that they had; what a view looked at stays as it is.
  // A parameter without one stays as it is, its number of updates too. learning_rate: none for the
  // optimizer's own; finite and not negative.
  void update(Values& parameters, const Values& gradients,
              std::optional<double> learning_rate = {});

  // Updates of a parameter so far. Throws Error for an unknown name.
  [[nodiscard]] int64_t updates(const std::string& parameter) const;
  // A state of a parameter, of its type and shape: "exp_avg", ... as the guide lists them.
  // Throws Error for an unknown name.
  [[nodiscard]] Array value(const std::string& parameter, const std::string& state) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace thimble

// L-BFGS: trains small models on all their samples at once.
#pragma once

#include <thimble/array.h>
#include <thimble/data.h>
#include <thimble/fit.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

namespace thimble {

class Trainer;

struct LbfgsOptions {
  enum class LineSearch : uint8_t {
    none,          // every step has the length lr
    strong_wolfe,  // lengths that satisfy the strong Wolfe conditions, searched from lr on
  };
  double lr = 1.0;                 // of the first iteration at most 1 / sum |gradient|
  int64_t max_iter = 20;           // iterations of a step
  int64_t max_eval = 0;            // ends a step: so many evaluations, of which a line search may
                                   // take one more; 0: max_iter * 5 / 4
  double tolerance_grad = 1e-7;    // ends a step: no element of the gradient is larger
  double tolerance_change = 1e-9;  // likewise: the loss or no parameter changes by more
  int64_t history_size = 100;      // pairs of changes that stand for the curvature
  LineSearch line_search = LineSearch::none;
};

// Limited-memory BFGS with the settings, decisions and defaults of torch.optim.LBFGS. It computes
// in double precision, evaluates the loss and its gradient several times for each step, and carries
// the curvature from one step to the next. Takes (2 history_size + 6) numbers a parameter, which no
// memory budget counts. Sources: Nocedal and Wright, "Numerical optimization", 2006, algorithms
// 7.4, 7.5, 3.5 and 3.6; Schmidt, minFunc, 2005.
// Thread safety: none. Errors: thimble::Error for settings out of range; what the objective throws
// leaves x at the point that was evaluated last.
class Lbfgs {
 public:
  // The loss at x; writes the gradient, of as many numbers.
  using Objective = std::function<double(std::span<const double> x, std::span<double> gradient)>;

  explicit Lbfgs(const LbfgsOptions& options = {});
  ~Lbfgs();
  Lbfgs(Lbfgs&&) noexcept;
  Lbfgs& operator=(Lbfgs&&) noexcept;

  // Arrays by name, of f32 or f64, owning or views.
  using Values = std::map<std::string, Array>;
  // The loss at given values, as batch.loss, and its gradients, of the same names, shapes and
  // types.
  using ArrayObjective = std::function<Gradients(const Values& at)>;

  // Moves x through at most max_iter iterations; the loss before the first. x has as many numbers
  // in every step.
  double step(std::span<double> x, const Objective& objective);
  // The same for arrays; new ones of the same types and shapes are put into values,
  // which stay as they are where the objective throws.
  double step(Values& values, const ArrayObjective& objective);
  // The same for the trained parameters of a trainer, whose loss is that of all the samples: at
  // most its batch. The trainer's optimizer, steps and running statistics stay as they are. Where
  // the loss is not finite the parameters are those of before the step.
  double step(Trainer& trainer, const data::Dataset& samples);

  // Since the start.
  [[nodiscard]] int64_t iterations() const;
  [[nodiscard]] int64_t evaluations() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace thimble

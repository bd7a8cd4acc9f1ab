// The learning rate as a function of the step.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace thimble {

class Schedule;

// lr * gamma^floor(step / step_size). gamma: in (0, 1].
struct StepDecay {
  double lr = 0.0;
  int64_t step_size = 0;
  double gamma = 0.1;
};

// lr * gamma^step. gamma: in (0, 1].
struct ExponentialDecay {
  double lr = 0.0;
  double gamma = 0.0;
};

// min + (max - min) / 2 * (1 + cos(pi * (step mod decay_steps) / decay_steps)): falls from max
// towards min and starts again. Source: Loshchilov and Hutter, "SGDR", 2017, equation 5.
struct CosineAnnealing {
  double max = 0.0;
  double min = 0.0;
  int64_t decay_steps = 0;
};

// max - (max - min) / decay_steps * step, then min.
struct LinearDecay {
  double max = 0.0;
  double min = 0.0;
  int64_t decay_steps = 0;
};

struct ScheduleStage;

// A learning rate for every step: an immutable value, cheap to copy. Thread-safe.
// Errors: the makers throw thimble::Error where a setting is missing, out of its range or
// contradicts another.
class Schedule {
 public:
  static Schedule constant(double lr);
  static Schedule step(const StepDecay& settings);
  static Schedule exponential(const ExponentialDecay& settings);
  static Schedule cosine_annealing(const CosineAnnealing& settings);
  static Schedule linear(const LinearDecay& settings);
  // Rises by equal amounts for `steps` steps, from target / (steps + 1), to the first rate of
  // `then`, which follows, counting its steps from 0.
  static Schedule warmup(int64_t steps, const Schedule& then);
  // One after the other, each counting its steps from 0; the last goes on for ever.
  static Schedule sequence(const std::vector<ScheduleStage>& stages);

  // "cosine", "cosine:min=1e-5,decay_steps=1000", "step:step_size=100,gamma=0.5", or several with
  // "/" between: "warmup:steps=100/constant:steps=500/linear". Settings: the fields' names above;
  // stages but the last need steps. Left out, lr and max are `lr`; min is 0; decay_steps is
  // what is left of total_steps (0: unknown) or the stage's steps. Throws Error.
  [[nodiscard]] static Schedule parse(std::string_view text, double lr, int64_t total_steps);
  [[nodiscard]] static std::vector<std::string> names();

  // The learning rate of a step. step: from 0.
  [[nodiscard]] double at(int64_t step) const { return rule_->at(step); }
  // In the form parse takes, every setting said; warmup or sequence inside a stage that ends is
  // not.
  [[nodiscard]] std::string text() const { return rule_->text(); }

  // What a schedule is behind its handle.
  class Rule {
   public:
    virtual ~Rule() = default;
    [[nodiscard]] virtual double at(int64_t step) const = 0;
    [[nodiscard]] virtual std::string text() const = 0;
  };

 private:
  explicit Schedule(std::shared_ptr<const Rule> rule) : rule_(std::move(rule)) {}
  std::shared_ptr<const Rule> rule_;
};

// A part of a sequence. steps: at least 1; how long the last one takes does not matter.
struct ScheduleStage {
  int64_t steps = 0;
  Schedule schedule;
};

}  // namespace thimble

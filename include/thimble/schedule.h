// The learning rate as a function of the step.
#pragma once

#include <thimble/schedule_settings.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace thimble {

class Schedule;

struct ScheduleStage;

// The state that a schedule keeps from past epochs. A checkpoint holds it.
struct ScheduleFeedback {
  int64_t epochs = 0;      // epochs observed
  double rate = 0.0;       // learning rate after them
  double best = 0.0;       // value observed
  int64_t bad_epochs = 0;  // in a row, without a better value
  int64_t cooldown = 0;    // epochs that will not count
};

// A learning rate for every step: an immutable value, cheap to copy. Thread-safe.
// Errors: these functions throw thimble::Error where a setting is missing, out of its range or
// contradicts another.
class Schedule {
 public:
  static Schedule constant(double lr);
  static Schedule step(const StepDecay& settings);
  static Schedule multi_step(const MultiStepDecay& settings);
  static Schedule exponential(const ExponentialDecay& settings);
  static Schedule cosine_annealing(const CosineAnnealing& settings);
  static Schedule linear(const LinearDecay& settings);
  static Schedule cosine_restarts(const CosineRestarts& settings);
  static Schedule polynomial(const PolynomialDecay& settings);
  static Schedule one_cycle(const OneCycle& settings);
  static Schedule cyclic(const Cyclic& settings);
  static Schedule reduce_on_plateau(const ReduceOnPlateau& settings);
  // Any function of the step, which counts from 0. at throws Error if it gives a negative rate or
  // NaN. A checkpoint does not hold the function: resume with the same one.
  static Schedule lambda(std::function<double(int64_t step)> rate);
  // Rises by equal amounts for `steps` steps, from target / (steps + 1), to the first rate of
  // `then`, which follows, counting its steps from 0.
  static Schedule warmup(int64_t steps, const Schedule& then);
  // One after the other, each counting its steps from 0; the last, which alone may watch the loss,
  // goes on for ever.
  static Schedule sequence(const std::vector<ScheduleStage>& stages);

  // "cosine", "cosine:min=1e-5,decay_steps=1000", "step:step_size=100,gamma=0.5",
  // "multi_step:milestones=100:200" with ":" between numbers, or several schedules with "/"
  // between: "warmup:steps=100/constant:steps=500/linear". Settings: the fields' names above;
  // stages but the last need steps. Left out, lr and max are `lr`; min is 0; decay_steps and
  // total_steps are what is left of total_steps (0: unknown) or the stage's steps. Throws Error.
  [[nodiscard]] static Schedule parse(std::string_view text, double lr, int64_t total_steps);
  [[nodiscard]] static std::vector<std::string> names();

  // The learning rate of a step, from 0, after the epochs that the feedback has seen.
  [[nodiscard]] double at(int64_t step, const ScheduleFeedback& feedback = {}) const {
    return rule_->at(step, feedback);
  }
  // Whether the schedule sets a momentum, and that of a step; none: the optimizer's own.
  [[nodiscard]] bool cycles_momentum() const { return rule_->cycles_momentum(); }
  [[nodiscard]] std::optional<double> momentum(int64_t step) const { return rule_->momentum(step); }
  // Records the watched value of an epoch. Does nothing if the schedule watches none.
  void observe(double value, ScheduleFeedback& feedback) const { rule_->observe(value, feedback); }
  // The metric that it watches; empty: the loss, or nothing.
  [[nodiscard]] std::string metric() const { return rule_->metric(); }
  [[nodiscard]] bool watches() const { return rule_->watches(); }
  // The text from which parse makes this schedule, with every setting. There is none for lambda,
  // nor for warmup or sequence inside a stage that ends.
  [[nodiscard]] std::string text() const { return rule_->text(); }

  // The implementation of a schedule.
  class Rule {
   public:
    virtual ~Rule() = default;
    [[nodiscard]] virtual double at(int64_t step, const ScheduleFeedback& feedback) const = 0;
    [[nodiscard]] virtual std::string text() const = 0;
    [[nodiscard]] virtual bool cycles_momentum() const { return false; }
    [[nodiscard]] virtual std::optional<double> momentum(int64_t /*step*/) const { return {}; }
    virtual void observe(double /*value*/, ScheduleFeedback& /*feedback*/) const {}
    [[nodiscard]] virtual std::string metric() const { return ""; }
    [[nodiscard]] virtual bool watches() const { return false; }
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

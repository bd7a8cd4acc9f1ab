#include <fmt/format.h>
#include <fmt/ranges.h>
#include <thimble/schedule.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "train/schedule_checks.h"

namespace thimble {

using train::require;
using train::require_count;
using train::require_fall;
using train::require_gamma;
using train::require_rate;

namespace {

class ConstantRule final : public Schedule::Rule {
 public:
  explicit ConstantRule(double lr) : lr_(lr) {}
  [[nodiscard]] double at(int64_t /*step*/, const ScheduleFeedback& /*feedback*/) const override {
    return lr_;
  }
  [[nodiscard]] std::string text() const override { return fmt::format("constant:lr={}", lr_); }

 private:
  double lr_;
};

class StepRule final : public Schedule::Rule {
 public:
  explicit StepRule(const StepDecay& s) : s_(s) {}
  [[nodiscard]] double at(int64_t step, const ScheduleFeedback& /*feedback*/) const override {
    return s_.lr * std::pow(s_.gamma, static_cast<double>(step / s_.step_size));
  }
  [[nodiscard]] std::string text() const override {
    return fmt::format("step:lr={},step_size={},gamma={}", s_.lr, s_.step_size, s_.gamma);
  }

 private:
  StepDecay s_;
};

class MultiStepRule final : public Schedule::Rule {
 public:
  explicit MultiStepRule(const MultiStepDecay& s) : s_(s) {}
  [[nodiscard]] double at(int64_t step, const ScheduleFeedback& /*feedback*/) const override {
    const auto reached = std::upper_bound(s_.milestones.begin(), s_.milestones.end(), step);
    return s_.lr * std::pow(s_.gamma, static_cast<double>(reached - s_.milestones.begin()));
  }
  [[nodiscard]] std::string text() const override {
    return fmt::format("multi_step:lr={},milestones={},gamma={}", s_.lr,
                       fmt::join(s_.milestones, ":"), s_.gamma);
  }

 private:
  MultiStepDecay s_;
};

class ExponentialRule final : public Schedule::Rule {
 public:
  explicit ExponentialRule(const ExponentialDecay& s) : s_(s) {}
  [[nodiscard]] double at(int64_t step, const ScheduleFeedback& /*feedback*/) const override {
    return s_.lr * std::pow(s_.gamma, static_cast<double>(step));
  }
  [[nodiscard]] std::string text() const override {
    return fmt::format("exponential:lr={},gamma={}", s_.lr, s_.gamma);
  }

 private:
  ExponentialDecay s_;
};

class CosineRule final : public Schedule::Rule {
 public:
  explicit CosineRule(const CosineAnnealing& s) : s_(s) {}
  [[nodiscard]] double at(int64_t step, const ScheduleFeedback& /*feedback*/) const override {
    const double part =
        static_cast<double>(step % s_.decay_steps) / static_cast<double>(s_.decay_steps);
    return s_.min + (s_.max - s_.min) / 2.0 * (1.0 + std::cos(std::numbers::pi * part));
  }
  [[nodiscard]] std::string text() const override {
    return fmt::format("cosine:max={},min={},decay_steps={}", s_.max, s_.min, s_.decay_steps);
  }

 private:
  CosineAnnealing s_;
};

class LinearRule final : public Schedule::Rule {
 public:
  explicit LinearRule(const LinearDecay& s) : s_(s) {}
  [[nodiscard]] double at(int64_t step, const ScheduleFeedback& /*feedback*/) const override {
    if (step >= s_.decay_steps) return s_.min;
    const double fall = (s_.max - s_.min) / static_cast<double>(s_.decay_steps);
    return s_.max - fall * static_cast<double>(step);
  }
  [[nodiscard]] std::string text() const override {
    return fmt::format("linear:max={},min={},decay_steps={}", s_.max, s_.min, s_.decay_steps);
  }

 private:
  LinearDecay s_;
};

class WarmupRule final : public Schedule::Rule {
 public:
  WarmupRule(int64_t steps, const Schedule& then) : steps_(steps), then_(then) {}
  [[nodiscard]] double at(int64_t step, const ScheduleFeedback& feedback) const override {
    if (step >= steps_) return then_.at(step - steps_, feedback);
    return then_.at(0, feedback) * static_cast<double>(step + 1) / static_cast<double>(steps_ + 1);
  }
  [[nodiscard]] std::string text() const override {
    return fmt::format("warmup:steps={}/{}", steps_, then_.text());
  }

  void observe(double value, ScheduleFeedback& feedback) const override {
    then_.observe(value, feedback);
  }
  [[nodiscard]] bool cycles_momentum() const override { return then_.cycles_momentum(); }
  [[nodiscard]] std::optional<double> momentum(int64_t step) const override {
    return then_.momentum(std::max<int64_t>(0, step - steps_));
  }
  [[nodiscard]] std::string metric() const override { return then_.metric(); }
  [[nodiscard]] bool watches() const override { return then_.watches(); }

 private:
  int64_t steps_;
  Schedule then_;
};

class SequenceRule final : public Schedule::Rule {
 public:
  explicit SequenceRule(const std::vector<ScheduleStage>& stages) : stages_(stages) {}
  [[nodiscard]] double at(int64_t step, const ScheduleFeedback& feedback) const override {
    const Schedule& schedule = stage_of(step);
    return schedule.at(step, feedback);
  }
  [[nodiscard]] bool cycles_momentum() const override {
    return std::any_of(stages_.begin(), stages_.end(),
                       [](const auto& stage) { return stage.schedule.cycles_momentum(); });
  }
  [[nodiscard]] std::optional<double> momentum(int64_t step) const override {
    const Schedule& schedule = stage_of(step);
    return schedule.momentum(step);
  }
  [[nodiscard]] std::string text() const override {
    std::string text;
    for (size_t i = 0; i + 1 < stages_.size(); ++i) {
      text += fmt::format("{},steps={}/", stages_[i].schedule.text(), stages_[i].steps);
    }
    return text + stages_.back().schedule.text();
  }

  void observe(double value, ScheduleFeedback& feedback) const override {
    stages_.back().schedule.observe(value, feedback);
  }
  [[nodiscard]] std::string metric() const override { return stages_.back().schedule.metric(); }
  [[nodiscard]] bool watches() const override { return stages_.back().schedule.watches(); }

 private:
  // The stage of a step; changes the step to count from the stage's start.
  [[nodiscard]] const Schedule& stage_of(int64_t& step) const {
    size_t stage = 0;
    while (stage + 1 < stages_.size() && step >= stages_[stage].steps) {
      step -= stages_[stage++].steps;
    }
    return stages_[stage].schedule;
  }

  std::vector<ScheduleStage> stages_;
};

}  // namespace

Schedule Schedule::constant(double lr) {
  require(lr >= 0.0 && std::isfinite(lr), "constant",
          fmt::format("lr must not be negative, got {}", lr));
  return Schedule(std::make_shared<ConstantRule>(lr));
}

Schedule Schedule::step(const StepDecay& settings) {
  require_rate("step", "lr", settings.lr);
  require_count("step", "step_size", settings.step_size);
  require_gamma("step", settings.gamma);
  return Schedule(std::make_shared<StepRule>(settings));
}

Schedule Schedule::multi_step(const MultiStepDecay& settings) {
  constexpr const char* kName = "multi_step";
  require_rate(kName, "lr", settings.lr);
  require(!settings.milestones.empty(), kName, "milestones must name one step or more");
  require(settings.milestones.front() >= 1 &&
              std::is_sorted(settings.milestones.begin(), settings.milestones.end()),
          kName,
          fmt::format("milestones must be steps from 1 on in rising order, got {}",
                      fmt::join(settings.milestones, ":")));
  require_gamma(kName, settings.gamma);
  return Schedule(std::make_shared<MultiStepRule>(settings));
}

Schedule Schedule::exponential(const ExponentialDecay& settings) {
  require_rate("exponential", "lr", settings.lr);
  require_gamma("exponential", settings.gamma);
  return Schedule(std::make_shared<ExponentialRule>(settings));
}

Schedule Schedule::cosine_annealing(const CosineAnnealing& settings) {
  require_fall("cosine", settings);
  require_count("cosine", "decay_steps", settings.decay_steps);
  return Schedule(std::make_shared<CosineRule>(settings));
}

Schedule Schedule::linear(const LinearDecay& settings) {
  require_fall("linear", settings);
  require_count("linear", "decay_steps", settings.decay_steps);
  return Schedule(std::make_shared<LinearRule>(settings));
}

Schedule Schedule::warmup(int64_t steps, const Schedule& then) {
  require_count("warmup", "steps", steps);
  return Schedule(std::make_shared<WarmupRule>(steps, then));
}

Schedule Schedule::sequence(const std::vector<ScheduleStage>& stages) {
  require(!stages.empty(), "sequence", "needs at least one stage");
  for (size_t i = 0; i + 1 < stages.size(); ++i) {
    require_count("sequence", fmt::format("steps of stage {}", i + 1).c_str(), stages[i].steps);
    require(!stages[i].schedule.watches(), "sequence",
            fmt::format("stage {} watches the loss, which only the last stage may", i + 1));
  }
  return Schedule(std::make_shared<SequenceRule>(stages));
}

}  // namespace thimble

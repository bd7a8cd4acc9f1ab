// Schedules that depend on more than the step's number: on the loss, or on the user's function.
#include <fmt/format.h>
#include <thimble/schedule.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "train/schedule_checks.h"

namespace thimble {
namespace {

using train::require;
using train::require_rate;

class PlateauRule final : public Schedule::Rule {
 public:
  explicit PlateauRule(ReduceOnPlateau s) : s_(std::move(s)) {}
  [[nodiscard]] double at(int64_t /*step*/, const ScheduleFeedback& feedback) const override {
    return feedback.epochs == 0 ? s_.lr : feedback.rate;
  }
  void observe(double value, ScheduleFeedback& f) const override {
    if (f.epochs == 0) {
      f.rate = s_.lr;
      f.best = falls() ? std::numeric_limits<double>::infinity()
                       : -std::numeric_limits<double>::infinity();
    }
    ++f.epochs;
    if (is_better(value, f.best)) {
      f.best = value;
      f.bad_epochs = 0;
    } else {
      ++f.bad_epochs;
    }
    if (f.cooldown > 0) {
      --f.cooldown;
      f.bad_epochs = 0;
    }
    if (f.bad_epochs <= s_.patience) return;
    const double lower = std::max(f.rate * s_.factor, s_.min_lr);
    if (f.rate - lower > s_.epsilon) f.rate = lower;
    f.cooldown = s_.cooldown;
    f.bad_epochs = 0;
  }
  [[nodiscard]] std::string metric() const override { return s_.metric; }
  [[nodiscard]] bool watches() const override { return true; }
  [[nodiscard]] std::string text() const override {
    return fmt::format(
        "reduce_on_plateau:lr={},mode={},factor={},patience={},threshold={},threshold_mode={},"
        "cooldown={},min_lr={},epsilon={}{}",
        s_.lr, falls() ? "min" : "max", s_.factor, s_.patience, s_.threshold,
        is_relative() ? "rel" : "abs", s_.cooldown, s_.min_lr, s_.epsilon,
        s_.metric.empty() ? "" : ",metric=" + s_.metric);
  }

 private:
  [[nodiscard]] bool falls() const { return s_.mode == ReduceOnPlateau::Mode::min; }
  [[nodiscard]] bool is_relative() const {
    return s_.threshold_mode == ReduceOnPlateau::ThresholdMode::rel;
  }
  [[nodiscard]] bool is_better(double value, double best) const {
    const double margin = falls() ? -s_.threshold : s_.threshold;
    const double limit = is_relative() ? best * (1.0 + margin) : best + margin;
    return falls() ? value < limit : value > limit;
  }

  ReduceOnPlateau s_;
};

class LambdaRule final : public Schedule::Rule {
 public:
  explicit LambdaRule(std::function<double(int64_t)> rate) : rate_(std::move(rate)) {}
  [[nodiscard]] double at(int64_t step, const ScheduleFeedback& /*feedback*/) const override {
    const double rate = rate_(step);
    require(rate >= 0.0 && std::isfinite(rate), "lambda",
            fmt::format("gave {} for step {}, expected a rate", rate, step));
    return rate;
  }
  [[nodiscard]] std::string text() const override { return "lambda"; }

 private:
  std::function<double(int64_t)> rate_;
};

}  // namespace

Schedule Schedule::reduce_on_plateau(const ReduceOnPlateau& settings) {
  constexpr const char* kName = "reduce_on_plateau";
  require_rate(kName, "lr", settings.lr);
  require(settings.factor > 0.0 && settings.factor < 1.0, kName,
          fmt::format("factor must be above 0 and below 1, got {}", settings.factor));
  require(settings.patience >= 0, kName,
          fmt::format("patience must not be negative, got {}", settings.patience));
  require(settings.cooldown >= 0, kName,
          fmt::format("cooldown must not be negative, got {}", settings.cooldown));
  for (const auto& [name, value] :
       {std::pair{"threshold", settings.threshold}, std::pair{"min_lr", settings.min_lr},
        std::pair{"epsilon", settings.epsilon}}) {
    require(value >= 0.0 && std::isfinite(value), kName,
            fmt::format("{} must not be negative, got {}", name, value));
  }
  return Schedule(std::make_shared<PlateauRule>(settings));
}

Schedule Schedule::lambda(std::function<double(int64_t step)> rate) {
  require(static_cast<bool>(rate), "lambda", "needs a function");
  return Schedule(std::make_shared<LambdaRule>(std::move(rate)));
}

}  // namespace thimble

// Schedules of several periods or phases.
#include <fmt/format.h>
#include <thimble/schedule.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "train/schedule_checks.h"

namespace thimble {
namespace {

using train::require;
using train::require_count;
using train::require_fall;
using train::require_gamma;
using train::require_momenta;
using train::require_rate;

// From start to end as part goes from 0 to 1.
double cosine(double start, double end, double part) {
  return end + (start - end) / 2.0 * (1.0 + std::cos(std::numbers::pi * part));
}

class CosineRestartsRule final : public Schedule::Rule {
 public:
  explicit CosineRestartsRule(const CosineRestarts& s) : s_(s) {}
  [[nodiscard]] double at(int64_t step, const ScheduleFeedback& /*feedback*/) const override {
    int64_t period = s_.t_0;
    if (s_.t_mult == 1) step %= period;
    while (step >= period) {
      step -= period;
      if (period > std::numeric_limits<int64_t>::max() / s_.t_mult) break;
      period *= s_.t_mult;
    }
    return cosine(s_.max, s_.min,
                  std::min(1.0, static_cast<double>(step) / static_cast<double>(period)));
  }
  [[nodiscard]] std::string text() const override {
    return fmt::format("cosine_restarts:max={},min={},t_0={},t_mult={}", s_.max, s_.min, s_.t_0,
                       s_.t_mult);
  }

 private:
  CosineRestarts s_;
};

class PolynomialRule final : public Schedule::Rule {
 public:
  explicit PolynomialRule(const PolynomialDecay& s) : s_(s) {}
  [[nodiscard]] double at(int64_t step, const ScheduleFeedback& /*feedback*/) const override {
    if (step >= s_.decay_steps) return s_.min;
    const double left = 1.0 - static_cast<double>(step) / static_cast<double>(s_.decay_steps);
    return s_.min + (s_.max - s_.min) * std::pow(left, s_.power);
  }
  [[nodiscard]] std::string text() const override {
    return fmt::format("polynomial:max={},min={},decay_steps={},power={}", s_.max, s_.min,
                       s_.decay_steps, s_.power);
  }

 private:
  PolynomialDecay s_;
};

class OneCycleRule final : public Schedule::Rule {
 public:
  explicit OneCycleRule(const OneCycle& s) : s_(s) {}
  [[nodiscard]] double at(int64_t step, const ScheduleFeedback& /*feedback*/) const override {
    const double first = s_.max / s_.div_factor;
    return phase(step, first, s_.max, first / s_.final_div_factor);
  }
  [[nodiscard]] bool cycles_momentum() const override { return s_.cycle_momentum; }
  [[nodiscard]] std::optional<double> momentum(int64_t step) const override {
    if (!s_.cycle_momentum) return {};
    return phase(step, s_.max_momentum, s_.base_momentum, s_.max_momentum);
  }
  [[nodiscard]] std::string text() const override {
    return fmt::format(
        "one_cycle:max={},total_steps={},pct_start={},anneal={},div_factor={},final_div_factor={},"
        "three_phase={}{}",
        s_.max, s_.total_steps, s_.pct_start, s_.anneal == OneCycle::Anneal::cos ? "cos" : "linear",
        s_.div_factor, s_.final_div_factor, s_.three_phase,
        s_.cycle_momentum ? fmt::format(",cycle_momentum=true,base_momentum={},max_momentum={}",
                                        s_.base_momentum, s_.max_momentum)
                          : "");
  }

 private:
  // A value that goes from first to peak and then to last; with three phases, back to first in
  // between.
  [[nodiscard]] double phase(int64_t step, double first, double peak, double last) const {
    const double total = static_cast<double>(s_.total_steps);
    const double up = s_.pct_start * total;
    const double now = std::min(static_cast<double>(step), total - 1.0);
    if (now <= up - 1.0) return between(first, peak, now, 0.0, up - 1.0);
    if (!s_.three_phase) return between(peak, last, now, up - 1.0, total - 1.0);
    const double down = 2.0 * up - 2.0;
    if (now <= down) return between(peak, first, now, up - 1.0, down);
    return between(first, last, now, down, total - 1.0);
  }

  // Its value at a time from begin to end.
  [[nodiscard]] double between(double start, double goal, double now, double begin,
                               double end) const {
    const double part = end > begin ? (now - begin) / (end - begin) : 1.0;
    if (s_.anneal == OneCycle::Anneal::cos) return cosine(start, goal, part);
    return start + (goal - start) * part;
  }

  OneCycle s_;
};

class CyclicRule final : public Schedule::Rule {
 public:
  explicit CyclicRule(const Cyclic& s) : s_(s) {
    if (s_.step_size_down == 0) s_.step_size_down = s_.step_size_up;
  }
  [[nodiscard]] double at(int64_t step, const ScheduleFeedback& /*feedback*/) const override {
    return s_.min + (s_.max - s_.min) * height(step);
  }
  [[nodiscard]] bool cycles_momentum() const override { return s_.cycle_momentum; }
  [[nodiscard]] std::optional<double> momentum(int64_t step) const override {
    if (!s_.cycle_momentum) return {};
    return s_.max_momentum - (s_.max_momentum - s_.base_momentum) * height(step);
  }
  [[nodiscard]] std::string text() const override {
    constexpr const char* kModes[] = {"triangular", "triangular2", "exp_range"};
    return fmt::format(
        "cyclic:max={},min={},step_size_up={},step_size_down={},mode={},gamma={}{}", s_.max, s_.min,
        s_.step_size_up, s_.step_size_down, kModes[static_cast<int>(s_.mode)], s_.gamma,
        s_.cycle_momentum ? fmt::format(",cycle_momentum=true,base_momentum={},max_momentum={}",
                                        s_.base_momentum, s_.max_momentum)
                          : "");
  }

 private:
  // As a share of max - min.
  [[nodiscard]] double height(int64_t step) const {
    const double up = static_cast<double>(s_.step_size_up);
    const double down = static_cast<double>(s_.step_size_down);
    const double cycle = std::floor(static_cast<double>(step) / (up + down));
    const double inside = static_cast<double>(step) - cycle * (up + down);
    const double share = inside <= up ? inside / up : (up + down - inside) / down;
    switch (s_.mode) {
      case Cyclic::Mode::triangular:
        return share;
      case Cyclic::Mode::triangular2:
        return share * std::exp2(-cycle);
      case Cyclic::Mode::exp_range:
        break;
    }
    return share * std::pow(s_.gamma, static_cast<double>(step));
  }

  Cyclic s_;
};

}  // namespace

Schedule Schedule::cosine_restarts(const CosineRestarts& settings) {
  require_count("cosine_restarts", "t_0", settings.t_0);
  require_count("cosine_restarts", "t_mult", settings.t_mult);
  require_fall("cosine_restarts", settings);
  return Schedule(std::make_shared<CosineRestartsRule>(settings));
}

Schedule Schedule::polynomial(const PolynomialDecay& settings) {
  require_fall("polynomial", settings);
  require_count("polynomial", "decay_steps", settings.decay_steps);
  require(settings.power >= 0.0 && std::isfinite(settings.power), "polynomial",
          fmt::format("power must not be negative, got {}", settings.power));
  return Schedule(std::make_shared<PolynomialRule>(settings));
}

Schedule Schedule::one_cycle(const OneCycle& settings) {
  constexpr const char* kName = "one_cycle";
  require_rate(kName, "max", settings.max);
  require_count(kName, "total_steps", settings.total_steps);
  require(settings.pct_start >= 0.0 && settings.pct_start <= 1.0, kName,
          fmt::format("pct_start must be from 0 to 1, got {}", settings.pct_start));
  require(
      !settings.three_phase || settings.pct_start <= 0.5, kName,
      fmt::format("pct_start must be at most 0.5 with three_phase, got {}", settings.pct_start));
  for (const double factor : {settings.div_factor, settings.final_div_factor}) {
    require(factor >= 1.0 && std::isfinite(factor), kName,
            fmt::format("div_factor and final_div_factor must be at least 1, got {}", factor));
  }
  require_momenta(kName, settings.base_momentum, settings.max_momentum);
  return Schedule(std::make_shared<OneCycleRule>(settings));
}

Schedule Schedule::cyclic(const Cyclic& settings) {
  constexpr const char* kName = "cyclic";
  require_fall(kName, settings);
  require_count(kName, "step_size_up", settings.step_size_up);
  require(settings.step_size_down >= 0, kName,
          fmt::format("step_size_down must be at least 1, or 0 for that of step_size_up, got {}",
                      settings.step_size_down));
  require_gamma(kName, settings.gamma);
  require(settings.gamma == 1.0 || settings.mode == Cyclic::Mode::exp_range, kName,
          "gamma is of the mode exp_range alone");
  require_momenta(kName, settings.base_momentum, settings.max_momentum);
  return Schedule(std::make_shared<CyclicRule>(settings));
}

}  // namespace thimble

#include <fmt/format.h>
#include <thimble/error.h>
#include <thimble/lbfgs.h>
#include <thimble/trainer.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <string>
#include <vector>

#include "train/line_search.h"

namespace thimble {
namespace {

using Vector = std::vector<double>;

constexpr double kLeastCurvature = 1e-10;  // of corrections that are kept

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double largest(const Vector& v) {
  double most = 0.0;
  for (const double x : v) most = std::max(most, std::abs(x));
  return most;
}

void add_scaled(Vector& to, double factor, const Vector& from) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
}

// A change of x with the change of the gradient that came with it.
struct Correction {
  Vector step;
  Vector change;
  double curvature;  // their product
};

void check(const LbfgsOptions& o) {
  const auto require = [](bool fine, const std::string& message) {
    if (!fine) throw Error("lbfgs", message);
  };
  require(o.lr > 0.0 && std::isfinite(o.lr), fmt::format("lr must be above 0, got {}", o.lr));
  require(o.max_iter >= 1, fmt::format("max_iter must be at least 1, got {}", o.max_iter));
  require(o.max_eval >= 0, fmt::format("max_eval must not be negative, got {}", o.max_eval));
  require(o.history_size >= 1,
          fmt::format("history_size must be at least 1, got {}", o.history_size));
  for (const double tolerance : {o.tolerance_grad, o.tolerance_change}) {
    require(tolerance >= 0.0, fmt::format("tolerances must not be negative, got {}", tolerance));
  }
}

}  // namespace

struct Lbfgs::State {
  explicit State(const LbfgsOptions& wanted) : options(wanted) {}

  double evaluate(std::span<const double> x, const Objective& objective) {
    ++evaluations;
    ++step_evaluations;
    return objective(x, gradient);
  }

  // The direction from corrections and gradient: algorithm 7.4, the two loops.
  void compute_direction() {
    if (iterations == 1) {
      direction = gradient;
      for (double& d : direction) d = -d;
      return;
    }
    remember();
    direction = gradient;
    for (double& d : direction) d = -d;
    Vector factors(corrections.size());
    for (size_t i = corrections.size(); i-- > 0;) {
      factors[i] = dot(corrections[i].step, direction) / corrections[i].curvature;
      add_scaled(direction, -factors[i], corrections[i].change);
    }
    for (double& d : direction) d *= scale;
    for (size_t i = 0; i < corrections.size(); ++i) {
      const double back = dot(corrections[i].change, direction) / corrections[i].curvature;
      add_scaled(direction, factors[i] - back, corrections[i].step);
    }
  }

  // Keeps the last step where the curvature along it is above 0.
  void remember() {
    Correction pair{direction, gradient, 0.0};
    for (double& s : pair.step) s *= length;
    add_scaled(pair.change, -1.0, gradient_before);
    pair.curvature = dot(pair.change, pair.step);
    if (!(pair.curvature > kLeastCurvature)) return;
    scale = pair.curvature / dot(pair.change, pair.change);
    if (static_cast<int64_t>(corrections.size()) == options.history_size) corrections.pop_front();
    corrections.push_back(std::move(pair));
  }

  [[nodiscard]] int64_t most_evaluations() const {
    return options.max_eval > 0 ? options.max_eval : options.max_iter * 5 / 4;
  }

  [[nodiscard]] double first_length() const {
    if (iterations > 1) return options.lr;
    double sum = 0.0;
    for (const double g : gradient) sum += std::abs(g);
    return std::min(1.0, 1.0 / sum) * options.lr;
  }

  // Moves x along the direction to where a line search ends.
  double search(std::span<double> x, double loss, double slope, const Objective& objective) {
    const Vector from(x.begin(), x.end());
    const auto move = [&](double by) {
      for (size_t i = 0; i < x.size(); ++i) x[i] = from[i] + by * direction[i];
    };
    train::LineSearchResult found = train::strong_wolfe(
        {0.0, loss, slope, gradient}, length, most_evaluations() - step_evaluations,
        largest(direction), options.tolerance_change, [&](double by) {
          move(by);
          const double value = evaluate(x, objective);
          return train::LinePoint{by, value, dot(gradient, direction), gradient};
        });
    length = found.point.length;
    gradient = std::move(found.point.gradient);
    move(length);
    return found.point.value;
  }

  // One iteration; false where the step ends with it.
  bool iterate(std::span<double> x, double& loss, bool is_last, const Objective& objective) {
    ++iterations;
    compute_direction();
    gradient_before = gradient;
    const double loss_before = loss;
    length = first_length();
    const double slope = dot(gradient, direction);
    if (slope > -options.tolerance_change) return false;
    if (options.line_search == LbfgsOptions::LineSearch::strong_wolfe) {
      loss = search(x, loss, slope, objective);
    } else {
      for (size_t i = 0; i < x.size(); ++i) x[i] += length * direction[i];
      // The next step begins with this loss and gradient.
      if (!is_last) loss = evaluate(x, objective);
    }
    return !is_last && step_evaluations < most_evaluations() &&
           largest(gradient) > options.tolerance_grad &&
           largest(direction) * std::abs(length) > options.tolerance_change &&
           std::abs(loss - loss_before) >= options.tolerance_change;
  }

  LbfgsOptions options;
  int64_t iterations = 0;
  int64_t evaluations = 0;
  int64_t step_evaluations = 0;
  Vector gradient;
  Vector gradient_before;
  Vector direction;
  double length = 0.0;
  double scale = 1.0;  // of the first guess of the inverse curvature
  std::deque<Correction> corrections;
};

Lbfgs::Lbfgs(const LbfgsOptions& options) {
  check(options);
  state_ = std::make_unique<State>(options);
}
Lbfgs::~Lbfgs() = default;
Lbfgs::Lbfgs(Lbfgs&&) noexcept = default;
Lbfgs& Lbfgs::operator=(Lbfgs&&) noexcept = default;

double Lbfgs::step(std::span<double> x, const Objective& objective) {
  State& s = *state_;
  if (s.evaluations > 0 && s.gradient.size() != x.size()) {
    throw Error("lbfgs", fmt::format("every step has as many numbers as the first, {}; got {}",
                                     s.gradient.size(), x.size()));
  }
  s.gradient.resize(x.size());
  s.step_evaluations = 0;
  const double first = s.evaluate(x, objective);
  if (largest(s.gradient) <= s.options.tolerance_grad) return first;
  double loss = first;
  for (int64_t i = 1; s.iterate(x, loss, i == s.options.max_iter, objective); ++i) {
  }
  return first;
}

int64_t Lbfgs::iterations() const { return state_->iterations; }
int64_t Lbfgs::evaluations() const { return state_->evaluations; }

namespace {

// The elements of all arrays in a row, by name.
Vector flat_elements(const Lbfgs::Values& values) {
  Vector x;
  for (const auto& [name, array] : values) {
    if (array.dtype() != DType::f32 && array.dtype() != DType::f64) {
      throw Error("lbfgs",
                  fmt::format("expected {} of f32 or f64, got {}", name, to_string(array.dtype())));
    }
    const Array wide = array.cast(DType::f64);
    const std::span<const double> elements = wide.as<double>();
    x.insert(x.end(), elements.begin(), elements.end());
  }
  return x;
}

// The inverse: arrays of the names, types and shapes of `like`.
Lbfgs::Values arrays_of(std::span<const double> x, const Lbfgs::Values& like) {
  Lbfgs::Values values;
  for (const auto& [name, array] : like) {
    const auto count = static_cast<size_t>(array.elements());
    const std::span<const double> part = x.first(count);
    values.emplace(name, Array::view(part, array.shape()).cast(array.dtype()).owned());
    x = x.subspan(count);
  }
  return values;
}

// Writes gradients that belong to these values.
void read_gradients(const Gradients& gradients, const Lbfgs::Values& values, std::span<double> to) {
  for (const auto& [name, array] : values) {
    const auto found = gradients.values.find(name);
    if (found == gradients.values.end()) {
      throw Error("lbfgs", "the objective gives no gradient of " + name);
    }
    const Array& gradient = found->second;
    if (gradient.dtype() != array.dtype() || gradient.shape() != array.shape()) {
      throw Error("lbfgs", fmt::format("expected a gradient of {} of {}{}, got {}{}", name,
                                       to_string(array.dtype()), to_string(array.shape()),
                                       to_string(gradient.dtype()), to_string(gradient.shape())));
    }
  }
  if (gradients.values.size() != values.size()) {
    throw Error("lbfgs", fmt::format("expected {} gradients, got {}", values.size(),
                                     gradients.values.size()));
  }
  const Vector all = flat_elements(gradients.values);
  std::copy(all.begin(), all.end(), to.begin());
}

void set_parameters(Trainer& trainer, const Lbfgs::Values& values) {
  for (const auto& [name, array] : values) trainer.set_parameter(name, array);
}

}  // namespace

double Lbfgs::step(Values& values, const ArrayObjective& objective) {
  Vector x = flat_elements(values);
  const double loss = step(x, [&](std::span<const double> at, std::span<double> gradient) {
    const Gradients found = objective(arrays_of(at, values));
    read_gradients(found, values, gradient);
    return found.batch.loss;
  });
  values = arrays_of(x, values);
  return loss;
}

double Lbfgs::step(Trainer& trainer, const data::Dataset& samples) {
  // The first evaluation is at the parameters as they are.
  Gradients gradients = trainer.gradients(samples);
  Lbfgs::Values values;
  for (const auto& [name, array] : gradients.values) values.emplace(name, trainer.parameter(name));
  const Lbfgs::Values before = values;
  bool is_known = true;
  try {
    const double loss = step(values, [&](const Lbfgs::Values& at) {
      if (is_known) {
        is_known = false;
        return gradients;
      }
      set_parameters(trainer, at);
      return trainer.gradients(samples);
    });
    set_parameters(trainer, values);
    return loss;
  } catch (...) {
    set_parameters(trainer, before);
    throw;
  }
}

}  // namespace thimble

#include <fmt/format.h>
#include <thimble/error.h>
#include <thimble/optimizer_state.h>

#include <algorithm>
#include <cmath>

#include "train/update_function.h"

namespace thimble {
namespace {

// The states of one parameter.
struct Kept {
  train::UpdateFunction update;
  Shape shape;
  std::vector<std::vector<std::byte>> states;
  int64_t updates = 0;
};

}  // namespace

struct OptimizerState::State {
  State(const Optimizer& wanted, int threads) : optimizer(wanted), pool(threads) {}

  Kept& kept(const std::string& name) {
    const auto found = parameters.find(name);
    if (found != parameters.end()) return found->second;
    throw Error(name, "the optimizer's state was made without a parameter of this name");
  }
  static void check(const std::string& name, const char* what, const Array& array,
                    const Kept& kept) {
    if (array.dtype() != DType::f32) {
      throw Error(name,
                  fmt::format("expected a {} of f32, got {}; {}", what, to_string(array.dtype()),
                              is_floating(array.dtype()) ? "convert it with Array::cast"
                                                         : "integers are not trained"));
    }
    const bool is_row = array.shape() == Shape{kept.shape.elements()};
    if (is_row || array.shape() == kept.shape) return;
    throw Error(name, fmt::format("expected a {} of shape {}, got {}", what, to_string(kept.shape),
                                  to_string(array.shape())));
  }

  Optimizer optimizer;
  parallel::ThreadPool pool;
  std::map<std::string, Kept> parameters;
};

OptimizerState::OptimizerState(const Optimizer& optimizer,
                               const std::map<std::string, Shape>& shapes, int threads) {
  if (threads < 0) {
    throw Error("threads",
                fmt::format("expected 1 or more, or 0 for one a processor, got {}", threads));
  }
  state_ = std::make_unique<State>(optimizer, threads);
  threads = state_->pool.threads();
  for (const auto& [name, shape] : shapes) {
    Kept& kept =
        state_->parameters
            .try_emplace(name, Kept{train::UpdateFunction(optimizer, shape, threads), shape, {}, 0})
            .first->second;
    for (const ir::StateSpec& spec : kept.update.states()) {
      const int64_t bytes = size_bytes(spec.type.dtype, spec.type.shape);
      train::fill_first(spec, kept.states.emplace_back(static_cast<size_t>(bytes)));
    }
  }
}
OptimizerState::~OptimizerState() = default;
OptimizerState::OptimizerState(OptimizerState&&) noexcept = default;
OptimizerState& OptimizerState::operator=(OptimizerState&&) noexcept = default;

void OptimizerState::update(Values& parameters, const Values& gradients,
                            std::optional<double> learning_rate) {
  const double lr = learning_rate.value_or(state_->optimizer.learning_rate());
  if (!std::isfinite(static_cast<float>(lr)) || lr < 0.0) {
    throw Error("learning_rate", fmt::format("expected a finite number of 0 or more, got {}", lr));
  }
  for (const auto& [name, gradient] : gradients) {
    const Kept& kept = state_->kept(name);
    const auto parameter = parameters.find(name);
    if (parameter == parameters.end()) throw Error(name, "has a gradient, but is no parameter");
    State::check(name, "gradient", gradient, kept);
    State::check(name, "parameter", parameter->second, kept);
  }
  for (const auto& [name, gradient] : gradients) {
    Kept& kept = state_->kept(name);
    const std::vector<std::span<std::byte>> states(kept.states.begin(), kept.states.end());
    Array& parameter = parameters.at(name);
    const std::span<const float> before = parameter.as<float>();
    std::vector<float> values(before.begin(), before.end());
    kept.update.run(values, gradient.as<float>(), states, lr, ++kept.updates, state_->pool);
    parameter = Array(std::move(values), parameter.shape());
  }
}

int64_t OptimizerState::updates(const std::string& parameter) const {
  return state_->kept(parameter).updates;
}

Array OptimizerState::value(const std::string& parameter, const std::string& state) const {
  const Kept& kept = state_->kept(parameter);
  std::string known;
  for (size_t i = 0; i < kept.states.size(); ++i) {
    const ir::StateSpec& spec = kept.update.states()[i];
    if (spec.name == state) {
      return Array::of_bytes(spec.type.dtype, spec.type.shape, kept.states[i]);
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", spec.name);
  }
  throw Error(parameter, fmt::format("the optimizer keeps no \"{}\" for it; it keeps {}", state,
                                     known.empty() ? "nothing" : known));
}

}  // namespace thimble

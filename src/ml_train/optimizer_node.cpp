#include "ml_train/optimizer_node.h"

#include <nntrainer_error.h>
#include <thimble/optimizers.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

namespace thimble::ml_train {
namespace {

constexpr Property kDecay[] = {
    {"decay_rate", Kind::real},
    {"decay_steps", Kind::positive},
};
constexpr Property kSgd[] = {{"learning_rate", Kind::real, "0.0001"}};
constexpr Property kAdam[] = {
    {"learning_rate", Kind::real, "0.001"}, {"beta1", Kind::real, "0.9"},
    {"beta2", Kind::real, "0.999"},         {"epsilon", Kind::real, "1e-7"},
    {"torch_ref", Kind::boolean, "false"},  {"state_bits", Kind::choice, "32", "32 8"},
};
constexpr Property kAdamW[] = {
    {"learning_rate", Kind::real, "0.001"},
    {"beta1", Kind::real, "0.9"},
    {"beta2", Kind::real, "0.999"},
    {"epsilon", Kind::real, "1e-8"},
    {"torch_ref", Kind::boolean, "false"},
    {"weight_decay", Kind::real, "0"},
    {"amsgrad", Kind::boolean, "false"},
    {"maximize", Kind::boolean, "false"},
    {"state_bits", Kind::choice, "32", "32 8"},
};
constexpr Property kRmsProp[] = {
    {"learning_rate", Kind::real, "0.001"},
    {"rho", Kind::real, "0.9"},
    {"alpha", Kind::real},
    {"epsilon", Kind::real, "1e-7"},
    {"torch_ref", Kind::boolean, "false"},
    {"weight_decay", Kind::real, "0"},
};

constexpr Property kConstant[] = {{"learning_rate", Kind::real, nullptr, "", 0, true}};
constexpr Property kExponential[] = {
    {"learning_rate", Kind::real, nullptr, "", 0, true},
    {"decay_rate", Kind::real, nullptr, "", 0, true},
    {"decay_steps", Kind::positive, nullptr, "", 0, true},
};
constexpr Property kStep[] = {
    {"learning_rate", Kind::reals, nullptr, "", 0, true},
    {"iteration", Kind::integers, nullptr, "", 0, true},
};
constexpr Property kRange[] = {
    {"max_learning_rate", Kind::real, nullptr, "", 0, true},
    {"min_learning_rate", Kind::real, nullptr, "", 0, true},
    {"decay_steps", Kind::positive, nullptr, "", 0, true},
};

using Tables = std::vector<std::span<const Property>>;

const Tables& keys_of(const std::map<std::string, Tables>& types, const std::string& type,
                      const char* what) {
  const auto found = types.find(type);
  if (found != types.end()) return found->second;
  std::string known;
  for (const auto& [name, keys] : types) known += (known.empty() ? "" : ", ") + name;
  throw std::invalid_argument(std::string("[") + what + "] there is no type \"" + type +
                              "\"; there are " + known);
}

const Tables& optimizer_keys(const std::string& type) {
  static const std::map<std::string, Tables> types = {{"sgd", {kSgd, kDecay}},
                                                      {"adam", {kAdam, kDecay}},
                                                      {"adamw", {kAdamW, kDecay}},
                                                      {"rmsprop", {kRmsProp, kDecay}}};
  return keys_of(types, type, "optimizer");
}

const Tables& scheduler_keys(const std::string& type) {
  static const std::map<std::string, Tables> types = {{"constant", {kConstant}},
                                                      {"exponential", {kExponential}},
                                                      {"step", {kStep}},
                                                      {"cosine", {kRange}},
                                                      {"linear", {kRange}}};
  return keys_of(types, type, "learning_rate_scheduler");
}

void require(bool condition, const PropertySet& props, const char* message) {
  if (!condition) throw std::invalid_argument("[" + props.owner() + "] " + message);
}

// lr * rate^(step / steps).
Schedule exponential(double lr, double rate, int64_t steps) {
  const double each = std::pow(rate, 1.0 / static_cast<double>(steps));
  if (each > 0.0 && each <= 1.0) return Schedule::exponential({.lr = lr, .gamma = each});
  return Schedule::lambda(
      [lr, each](int64_t step) { return lr * std::pow(each, static_cast<double>(step)); });
}

Schedule steps(const PropertySet& props) {
  const std::vector<double> rates = props.reals("learning_rate");
  const std::vector<int64_t> until = props.integers("iteration");
  require(rates.size() == until.size() + 1, props,
          "learning_rate needs one number more than iteration");
  require(std::adjacent_find(until.begin(), until.end(), std::greater_equal<>()) == until.end(),
          props, "the numbers of iteration rise");
  std::vector<ScheduleStage> stages;
  int64_t begin = 0;
  for (size_t i = 0; i < until.size(); ++i) {
    stages.push_back({until[i] + 1 - begin, Schedule::constant(rates[i])});
    begin = until[i] + 1;
  }
  stages.push_back({1, Schedule::constant(rates.back())});
  return Schedule::sequence(stages);
}

}  // namespace

SchedulerNode::SchedulerNode(const std::string& type, const std::vector<std::string>& properties)
    : type_(lower(type)), props_(type_ + " scheduler", scheduler_keys(type_)) {
  setProperty(properties);
}

void SchedulerNode::setProperty(const std::vector<std::string>& values) {
  static const std::map<std::string, std::string> spellings = {
      {"maxlearningrate", "max_learning_rate"},
      {"minlearningrate", "min_learning_rate"},
      {"decaysteps", "decay_steps"}};
  for (const auto& [key, value] : parse_pairs(props_.owner(), values)) {
    const auto other = spellings.find(key);
    props_.set(other == spellings.end() ? key : other->second, value);
  }
}

Schedule SchedulerNode::schedule() const {
  props_.require_all();
  if (type_ == "constant") return Schedule::constant(props_.real("learning_rate"));
  if (type_ == "step") return steps(props_);
  if (type_ == "exponential") {
    return exponential(props_.real("learning_rate"), props_.real("decay_rate"),
                       props_.count("decay_steps"));
  }
  const double max = props_.real("max_learning_rate");
  const double min = props_.real("min_learning_rate");
  const int64_t decay = props_.count("decay_steps");
  require(min <= max, props_, "min_learning_rate is above max_learning_rate");
  if (type_ == "cosine") {
    return Schedule::cosine_annealing({.max = max, .min = min, .decay_steps = decay});
  }
  return Schedule::linear({.max = max, .min = min, .decay_steps = decay});
}

OptimizerNode::OptimizerNode(const std::string& type, const std::vector<std::string>& properties)
    : type_(lower(type)), props_(type_, optimizer_keys(type_)) {
  props_.set(properties);
}

int OptimizerNode::setLearningRateScheduler(
    std::shared_ptr<ml::train::LearningRateScheduler> scheduler) {
  auto known = std::dynamic_pointer_cast<SchedulerNode>(std::move(scheduler));
  if (!known) {
    throw nntrainer::exception::not_supported(
        "[" + type_ + "] takes the schedules of createLearningRateScheduler alone");
  }
  scheduler_ = std::move(known);
  return ML_ERROR_NONE;
}

std::shared_ptr<OptimizerNode> OptimizerNode::clone() const {
  auto copy = std::make_shared<OptimizerNode>(*this);
  if (scheduler_) copy->scheduler_ = std::make_shared<SchedulerNode>(*scheduler_);
  return copy;
}

thimble::Optimizer OptimizerNode::optimizer() const {
  const double lr = props_.real("learning_rate");
  const bool torch = props_.boolean("torch_ref");
  if (type_ == "sgd") return thimble::SGD{.lr = lr};
  const double epsilon = props_.real("epsilon");
  if (type_ == "rmsprop") {
    require(!props_.given("rho") || !props_.given("alpha"), props_,
            "rho and alpha are the same: give one");
    return thimble::RMSProp{.lr = lr,
                            .alpha = props_.real(props_.given("alpha") ? "alpha" : "rho"),
                            .epsilon = epsilon,
                            .weight_decay = props_.real("weight_decay"),
                            .epsilon_inside_root = !torch};
  }
  const double beta1 = props_.real("beta1");
  const double beta2 = props_.real("beta2");
  const int64_t state_bits = has_coded_states() ? 8 : 32;
  if (type_ == "adam") {
    return thimble::Adam{.lr = lr,
                         .beta1 = beta1,
                         .beta2 = beta2,
                         .epsilon = epsilon,
                         .state_bits = state_bits,
                         .epsilon_hat = !torch};
  }
  return thimble::AdamW{.lr = lr,
                        .beta1 = beta1,
                        .beta2 = beta2,
                        .epsilon = epsilon,
                        .weight_decay = props_.real("weight_decay"),
                        .amsgrad = props_.boolean("amsgrad"),
                        .maximize = props_.boolean("maximize"),
                        .state_bits = state_bits,
                        .epsilon_hat = !torch};
}

bool OptimizerNode::has_coded_states() const {
  const bool has_key = type_ == "adam" || type_ == "adamw";
  return has_key && props_.choice("state_bits") == "8";
}

std::vector<std::string> OptimizerNode::states() const {
  if (type_ == "sgd") return {};
  if (type_ == "rmsprop") return {"square_avg"};
  std::vector<std::string> names{"exp_avg", "exp_avg_sq"};
  if (type_ == "adamw" && props_.boolean("amsgrad")) names.emplace_back("max_exp_avg_sq");
  return names;
}

std::optional<Schedule> OptimizerNode::schedule() const {
  const bool decays = props_.has("decay_rate") || props_.has("decay_steps");
  if (scheduler_) {
    require(!decays, props_, "decay_rate and decay_steps do not go with a schedule: give one");
    return scheduler_->schedule();
  }
  if (!decays) return {};
  require(props_.has("decay_rate") && props_.has("decay_steps"), props_,
          "decay_rate and decay_steps go together: give both");
  return exponential(props_.real("learning_rate"), props_.real("decay_rate"),
                     props_.count("decay_steps"));
}

}  // namespace thimble::ml_train

namespace ml::train {

using thimble::ml_train::OptimizerNode;
using thimble::ml_train::SchedulerNode;

std::unique_ptr<Optimizer> createOptimizer(const std::string& type,
                                           const std::vector<std::string>& properties) {
  return std::make_unique<OptimizerNode>(type, properties);
}

std::unique_ptr<Optimizer> createOptimizer(const OptimizerType& type,
                                           const std::vector<std::string>& properties) {
  switch (type) {
    case ADAM:
      return createOptimizer("adam", properties);
    case SGD:
      return createOptimizer("sgd", properties);
    case ADAMW:
      return createOptimizer("adamw", properties);
    case UNKNOWN:
      break;
  }
  throw std::invalid_argument("[optimizer] the type is unknown");
}

std::unique_ptr<LearningRateScheduler> createLearningRateScheduler(
    const std::string& type, const std::vector<std::string>& properties) {
  return std::make_unique<SchedulerNode>(type, properties);
}

std::unique_ptr<LearningRateScheduler> createLearningRateScheduler(
    const LearningRateSchedulerType& type, const std::vector<std::string>& properties) {
  switch (type) {
    case CONSTANT:
      return createLearningRateScheduler("constant", properties);
    case EXPONENTIAL:
      return createLearningRateScheduler("exponential", properties);
    case STEP:
      return createLearningRateScheduler("step", properties);
    case COSINE:
      return createLearningRateScheduler("cosine", properties);
  }
  throw std::invalid_argument("[learning_rate_scheduler] the type is unknown");
}

}  // namespace ml::train

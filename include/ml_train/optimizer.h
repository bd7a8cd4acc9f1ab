// Optimizers and learning-rate schedules.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <common.h>

namespace ml::train {

enum OptimizerType {
  ADAM = ML_TRAIN_OPTIMIZER_TYPE_ADAM,
  SGD = ML_TRAIN_OPTIMIZER_TYPE_SGD,
  ADAMW = ML_TRAIN_OPTIMIZER_TYPE_ADAMW,
  UNKNOWN = ML_TRAIN_OPTIMIZER_TYPE_UNKNOWN,
};

enum LearningRateSchedulerType {
  CONSTANT = ML_TRAIN_LR_SCHEDULER_TYPE_CONSTANT,
  EXPONENTIAL = ML_TRAIN_LR_SCHEDULER_TYPE_EXPONENTIAL,
  STEP = ML_TRAIN_LR_SCHEDULER_TYPE_STEP,
  COSINE = ML_TRAIN_LR_SCHEDULER_TYPE_COSINE,
};

// A learning rate as a function of the number of updates, which count from 0.
class LearningRateScheduler {
 public:
  virtual ~LearningRateScheduler() = default;
  // "constant", "exponential", "step", "cosine" or "linear".
  [[nodiscard]] virtual const std::string getType() const = 0;
  virtual void setProperty(const std::vector<std::string>& values) = 0;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // "sgd", "adam", "adamw" or "rmsprop".
  [[nodiscard]] virtual const std::string getType() const = 0;
  virtual void setProperty(const std::vector<std::string>& values) = 0;
  // Takes the place of learning_rate. Returns 0.
  virtual int setLearningRateScheduler(std::shared_ptr<LearningRateScheduler> scheduler) = 0;
};

// Names have no case. All throw std::invalid_argument for an unknown type, key or value.
std::unique_ptr<Optimizer> createOptimizer(const std::string& type,
                                           const std::vector<std::string>& properties = {});
std::unique_ptr<Optimizer> createOptimizer(const OptimizerType& type,
                                           const std::vector<std::string>& properties = {});
std::unique_ptr<LearningRateScheduler> createLearningRateScheduler(
    const std::string& type, const std::vector<std::string>& properties = {});
std::unique_ptr<LearningRateScheduler> createLearningRateScheduler(
    const LearningRateSchedulerType& type, const std::vector<std::string>& properties = {});

// For classes of one's own, which only they themselves can run: a model refuses them.
template <class T>
std::unique_ptr<Optimizer> createOptimizer(const std::vector<std::string>& properties = {}) {
  auto made = std::make_unique<T>();
  made->setProperty(properties);
  return made;
}
template <class T>
std::unique_ptr<LearningRateScheduler> createLearningRateScheduler(
    const std::vector<std::string>& properties = {}) {
  auto made = std::make_unique<T>();
  made->setProperty(properties);
  return made;
}

namespace optimizer {

inline std::unique_ptr<Optimizer> Adam(const std::vector<std::string>& properties = {}) {
  return createOptimizer("adam", properties);
}
inline std::unique_ptr<Optimizer> AdamW(const std::vector<std::string>& properties = {}) {
  return createOptimizer("adamw", properties);
}
inline std::unique_ptr<Optimizer> SGD(const std::vector<std::string>& properties = {}) {
  return createOptimizer("sgd", properties);
}
inline std::unique_ptr<Optimizer> RMSProp(const std::vector<std::string>& properties = {}) {
  return createOptimizer("rmsprop", properties);
}

namespace learning_rate {

inline std::unique_ptr<LearningRateScheduler> Constant(
    const std::vector<std::string>& properties = {}) {
  return createLearningRateScheduler("constant", properties);
}
inline std::unique_ptr<LearningRateScheduler> Exponential(
    const std::vector<std::string>& properties = {}) {
  return createLearningRateScheduler("exponential", properties);
}
inline std::unique_ptr<LearningRateScheduler> Step(
    const std::vector<std::string>& properties = {}) {
  return createLearningRateScheduler("step", properties);
}
inline std::unique_ptr<LearningRateScheduler> Cosine(
    const std::vector<std::string>& properties = {}) {
  return createLearningRateScheduler("cosine", properties);
}
inline std::unique_ptr<LearningRateScheduler> Linear(
    const std::vector<std::string>& properties = {}) {
  return createLearningRateScheduler("linear", properties);
}

}  // namespace learning_rate
}  // namespace optimizer
}  // namespace ml::train

// The optimizers and schedules that users hold, and what they are in thimble.
#pragma once

#include <optimizer.h>
#include <thimble/optimizer.h>
#include <thimble/schedule.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ml_train/properties.h"

namespace thimble::ml_train {

class SchedulerNode : public ml::train::LearningRateScheduler {
 public:
  // Throws std::invalid_argument for an unknown type, key or value.
  SchedulerNode(const std::string& type, const std::vector<std::string>& properties);
  [[nodiscard]] const std::string getType() const override { return type_; }
  void setProperty(const std::vector<std::string>& values) override;
  [[nodiscard]] const PropertySet& props() const { return props_; }
  // Throws std::invalid_argument where a key is missing or values contradict each other.
  [[nodiscard]] Schedule schedule() const;

 private:
  std::string type_;
  PropertySet props_;
};

class OptimizerNode : public ml::train::Optimizer {
 public:
  OptimizerNode(const std::string& type, const std::vector<std::string>& properties);
  [[nodiscard]] const std::string getType() const override { return type_; }
  void setProperty(const std::vector<std::string>& values) override { props_.set(values); }
  int setLearningRateScheduler(
      std::shared_ptr<ml::train::LearningRateScheduler> scheduler) override;
  [[nodiscard]] const PropertySet& props() const { return props_; }
  [[nodiscard]] const SchedulerNode* scheduler() const { return scheduler_.get(); }
  // A copy with a copy of the schedule.
  [[nodiscard]] std::shared_ptr<OptimizerNode> clone() const;

  [[nodiscard]] thimble::Optimizer optimizer() const;
  // What it keeps for each weight, by the names of thimble's states.
  [[nodiscard]] std::vector<std::string> states() const;
  // Whether those of large weights are codes of 8 bits, with scales.
  [[nodiscard]] bool has_coded_states() const;
  // None: the learning rate stays. Throws std::invalid_argument where two rules for it are given.
  [[nodiscard]] std::optional<Schedule> schedule() const;
  // Whether a layer's weight_decay shrinks the weight itself instead of adding to the gradient.
  [[nodiscard]] bool decouples_decay() const { return type_ == "adamw"; }

 private:
  std::string type_;
  PropertySet props_;
  std::shared_ptr<SchedulerNode> scheduler_;
};

}  // namespace thimble::ml_train

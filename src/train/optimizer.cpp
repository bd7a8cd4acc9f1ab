#include <fmt/format.h>
#include <thimble/error.h>
#include <thimble/optimizers.h>

#include <algorithm>

#include "ir/optimizer_value.h"
#include "train/setting_visitor.h"
#include "train/settings.h"

namespace thimble {
namespace {

using ir::OptimizerValue;
using train::OneSetting;
using train::SettingVisitor;

// Reads every setting from text.
class FromWords final : public SettingVisitor {
 public:
  using SettingVisitor::field;
  explicit FromWords(train::Settings& words) : words_(words) {}
  void field(const char* name, bool& value, const char*) override {
    value = words_.flag(name, value);
  }
  void field(const char* name, int64_t& value, const char*) override {
    value = words_.integer(name, value);
  }
  void field(const char* name, double& value, const char*) override {
    value = words_.number(name, value);
  }
  void choice(const char* name, int& value, std::span<const char* const> names,
              const char*) override {
    value = words_.choice(name, names, value);
  }

 private:
  train::Settings& words_;
};

Optimizer made(const ir::OpDef& op, ir::Attrs settings) {
  op.optimizer.check(settings);
  return Optimizer(
      std::make_shared<const OptimizerValue>(OptimizerValue{&op, std::move(settings)}));
}

Optimizer changed(const OptimizerValue& value, const char* setting, double number) {
  OneSetting<double> change(setting, number);
  ir::Attrs settings = value.settings.changed(change);
  if (!change.found) {
    throw Error("optimizer", fmt::format("{} has no {}", value.op->optimizer.name, setting));
  }
  return made(*value.op, std::move(settings));
}

// The ops of all optimizers, sorted by the optimizers' names.
std::vector<const ir::OpDef*> rules() {
  std::vector<const ir::OpDef*> found;
  for (const ir::OpDef* op : ir::all_ops()) {
    if (op->optimizer.name != nullptr) found.push_back(op);
  }
  std::sort(found.begin(), found.end(), [](const ir::OpDef* a, const ir::OpDef* b) {
    return std::string_view(a->optimizer.name) < b->optimizer.name;
  });
  return found;
}

// base: may be null.
Optimizer parsed(std::string_view text, const OptimizerValue* base) {
  train::Settings words("optimizer", text);
  for (const ir::OpDef* op : rules()) {
    if (words.name() != op->optimizer.name) continue;
    FromWords reader(words);
    const bool alike = base != nullptr && base->op == op;
    ir::Attrs settings =
        (alike ? base->settings : ir::Attrs::defaults(op->signature.attrs)).changed(reader);
    words.finish();
    return made(*op, std::move(settings));
  }
  words.fail_unknown(Optimizer::names());
}

}  // namespace

std::string Optimizer::name() const { return value_->op->optimizer.name; }

double Optimizer::learning_rate() const {
  OneSetting<double> lr("lr");
  value_->settings.visit(lr);
  return lr.found.value_or(0.0);
}

double Optimizer::momentum() const {
  if (value_->op->optimizer.momentum == nullptr) return 0.0;
  OneSetting<double> momentum(value_->op->optimizer.momentum);
  value_->settings.visit(momentum);
  return momentum.found.value_or(0.0);
}

Optimizer Optimizer::with_learning_rate(double lr) const { return changed(*value_, "lr", lr); }

Optimizer Optimizer::with_weight_decay(double weight_decay) const {
  return changed(*value_, "weight_decay", weight_decay);
}

Optimizer Optimizer::parse(std::string_view text) { return parsed(text, nullptr); }

Optimizer Optimizer::parse(std::string_view text, const Optimizer& base) {
  return parsed(text, &base.value());
}

std::vector<std::string> Optimizer::names() {
  std::vector<std::string> names;
  for (const ir::OpDef* op : rules()) names.emplace_back(op->optimizer.name);
  return names;
}

std::string Optimizer::text() const {
  std::string settings = value_->settings.text();
  settings.erase(std::remove(settings.begin(), settings.end(), ' '), settings.end());
  return settings.empty() ? name() : name() + ":" + settings;
}

bool Optimizer::operator==(const Optimizer& other) const {
  return value_->op == other.value_->op &&
         value_->settings.full_text() == other.value_->settings.full_text();
}

}  // namespace thimble

#include <thimble/error.h>
#include <thimble/optimizer.h>

#include <fmt/format.h>

#include <cmath>

#include "train/settings.h"

namespace thimble {
namespace {

// Calls visit(name, field) for every setting; visitors take double& or bool& (or const).
template <class S, class Visit>
requires std::is_same_v<std::remove_const_t<S>, SGD>
void each(S& s, Visit&& visit) {
  visit("lr", s.lr);
  visit("momentum", s.momentum);
  visit("dampening", s.dampening);
  visit("nesterov", s.nesterov);
  visit("weight_decay", s.weight_decay);
  visit("maximize", s.maximize);
}

template <class S, class Visit>
requires(std::is_same_v<std::remove_const_t<S>, Adam> ||
         std::is_same_v<std::remove_const_t<S>, AdamW>) void each(S& s, Visit&& visit) {
  visit("lr", s.lr);
  visit("beta1", s.beta1);
  visit("beta2", s.beta2);
  visit("epsilon", s.epsilon);
  visit("weight_decay", s.weight_decay);
  visit("amsgrad", s.amsgrad);
  visit("maximize", s.maximize);
}

template <class S, class Visit>
requires std::is_same_v<std::remove_const_t<S>, RMSProp>
void each(S& s, Visit&& visit) {
  visit("lr", s.lr);
  visit("alpha", s.alpha);
  visit("epsilon", s.epsilon);
  visit("momentum", s.momentum);
  visit("centered", s.centered);
  visit("weight_decay", s.weight_decay);
  visit("maximize", s.maximize);
  visit("epsilon_inside_root", s.epsilon_inside_root);
}

const char* name_of(const SGD&) { return "sgd"; }
const char* name_of(const Adam&) { return "adam"; }
const char* name_of(const AdamW&) { return "adamw"; }
const char* name_of(const RMSProp&) { return "rmsprop"; }

void check(const char* name, bool fine, const char* message, double value) {
  if (!fine) throw Error("optimizer", fmt::format("{}: {}, got {}", name, message, value));
}

// Ranges that every optimizer with a field of that name shares.
template <class S>
void check_ranges(const S& settings) {
  const char* name = name_of(settings);
  each(settings, [name](std::string_view field, const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>) {
      if (field == "beta1" || field == "beta2" || field == "alpha") {
        check(name, value >= 0.0 && value < 1.0,
              fmt::format("{} must be at least 0 and below 1", field).c_str(), value);
      } else if (field == "dampening") {
        check(name, std::isfinite(value), "dampening must be a number", value);
      } else {
        check(name, value >= 0.0 && std::isfinite(value),
              fmt::format("{} must not be negative", field).c_str(), value);
      }
    }
  });
}

void check_nesterov(const SGD& settings) {
  if (!settings.nesterov) return;
  check("sgd", settings.momentum > 0.0, "nesterov needs a momentum above 0", settings.momentum);
  check("sgd", settings.dampening == 0.0, "nesterov needs a dampening of 0", settings.dampening);
}

template <class S>
S parsed(train::Settings& words) {
  S settings;
  each(settings, [&words](const char* field, auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, bool>) {
      value = words.flag(field, value);
    } else {
      value = words.number(field, value);
    }
  });
  words.finish();
  return settings;
}

// Every setting as words, in the order of each.
template <class S>
std::vector<std::string> words_of(const S& settings) {
  std::vector<std::string> words;
  each(settings, [&words](const char* field, const auto& value) {
    words.push_back(fmt::format("{}={}", field, value));
  });
  return words;
}

}  // namespace

Optimizer::Optimizer(const SGD& settings) : kind_(settings) {
  check_ranges(settings);
  check_nesterov(settings);
}
Optimizer::Optimizer(const Adam& settings) : kind_(settings) { check_ranges(settings); }
Optimizer::Optimizer(const AdamW& settings) : kind_(settings) { check_ranges(settings); }
Optimizer::Optimizer(const RMSProp& settings) : kind_(settings) { check_ranges(settings); }

double Optimizer::learning_rate() const {
  return std::visit([](const auto& settings) { return settings.lr; }, kind_);
}

Optimizer Optimizer::with_learning_rate(double lr) const {
  return std::visit(
      [lr](auto settings) {
        settings.lr = lr;
        return Optimizer(settings);
      },
      kind_);
}

Optimizer Optimizer::with_weight_decay(double weight_decay) const {
  return std::visit(
      [weight_decay](auto settings) {
        settings.weight_decay = weight_decay;
        return Optimizer(settings);
      },
      kind_);
}

Optimizer Optimizer::parse(std::string_view text) {
  train::Settings words("optimizer", text);
  if (words.name() == "sgd") return parsed<SGD>(words);
  if (words.name() == "adam") return parsed<Adam>(words);
  if (words.name() == "adamw") return parsed<AdamW>(words);
  if (words.name() == "rmsprop") return parsed<RMSProp>(words);
  words.fail_unknown(names());
}

std::vector<std::string> Optimizer::names() { return {"sgd", "adam", "adamw", "rmsprop"}; }

std::string Optimizer::text() const {
  return std::visit(
      [](const auto& settings) {
        const std::vector<std::string> words = words_of(settings);
        const std::vector<std::string> defaults = words_of(std::decay_t<decltype(settings)>{});
        std::string text = name_of(settings);
        const char* separator = ":";
        for (size_t i = 0; i < words.size(); ++i) {
          if (words[i] == defaults[i]) continue;
          text += separator + words[i];
          separator = ",";
        }
        return text;
      },
      kind_);
}

}  // namespace thimble

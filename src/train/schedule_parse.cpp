#include <thimble/error.h>
#include <thimble/schedule.h>

#include <fmt/format.h>

#include "train/settings.h"

namespace thimble {
namespace {

// One stage's schedule. decay_steps: what it is where the words do not say.
Schedule parse_stage(train::Settings& words, double lr, int64_t decay_steps) {
  const std::string& name = words.name();
  const auto decay = [&] {
    const int64_t steps = words.integer("decay_steps", decay_steps);
    if (steps == 0) {
      throw Error("schedule", name + ": decay_steps is missing and the number of steps unknown");
    }
    return steps;
  };
  if (name == "constant") return Schedule::constant(words.number("lr", lr));
  if (name == "step") {
    return Schedule::step({.lr = words.number("lr", lr),
                           .step_size = words.integer("step_size", 0),
                           .gamma = words.number("gamma", StepDecay{}.gamma)});
  }
  if (name == "exponential") {
    return Schedule::exponential(
        {.lr = words.number("lr", lr), .gamma = words.number("gamma", 0.0)});
  }
  if (name == "cosine") {
    return Schedule::cosine_annealing(
        {.max = words.number("max", lr), .min = words.number("min", 0.0), .decay_steps = decay()});
  }
  if (name == "linear") {
    return Schedule::linear(
        {.max = words.number("max", lr), .min = words.number("min", 0.0), .decay_steps = decay()});
  }
  words.fail_unknown(Schedule::names());
}

}  // namespace

Schedule Schedule::parse(std::string_view text, double lr, int64_t total_steps) {
  const size_t slash = text.find('/');
  train::Settings words("schedule", text.substr(0, slash));
  if (slash == std::string_view::npos) {
    if (words.name() == "warmup") {
      throw Error("schedule", "warmup needs a schedule to lead to: \"warmup:steps=100/cosine\"");
    }
    Schedule last = parse_stage(words, lr, total_steps);
    words.finish();
    return last;
  }
  const int64_t steps = words.integer("steps", 0);
  if (steps < 1) {
    throw Error("schedule",
                fmt::format("{}: steps must be at least 1 where another stage follows, got {}",
                            words.name(), steps));
  }
  if (total_steps != 0 && steps >= total_steps) {
    throw Error("schedule", fmt::format("{}: takes {} steps, which leaves none of {}", words.name(),
                                        steps, total_steps));
  }
  const int64_t left = total_steps == 0 ? 0 : total_steps - steps;
  if (words.name() == "warmup") {
    words.finish();
    return warmup(steps, parse(text.substr(slash + 1), lr, left));
  }
  const Schedule first = parse_stage(words, lr, steps);
  words.finish();
  return sequence({{steps, first}, {0, parse(text.substr(slash + 1), lr, left)}});
}

std::vector<std::string> Schedule::names() {
  return {"constant", "step", "exponential", "cosine", "linear", "warmup"};
}

}  // namespace thimble

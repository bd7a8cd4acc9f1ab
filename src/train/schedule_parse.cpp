#include <thimble/error.h>
#include <thimble/schedule.h>

#include <fmt/format.h>

#include "train/settings.h"

namespace thimble {
namespace {

// Defaults for settings that a stage's text leaves out.
struct Defaults {
  double lr;
  int64_t steps;  // 0: unknown
};

int64_t steps_of(train::Settings& words, const char* key, const Defaults& defaults) {
  const int64_t steps = words.integer(key, defaults.steps);
  if (steps == 0) {
    throw Error("schedule", fmt::format("{}: {} is missing and the number of steps unknown",
                                        words.name(), key));
  }
  return steps;
}

Schedule parse_one_cycle(train::Settings& words, const Defaults& defaults) {
  constexpr const char* kAnneals[] = {"cos", "linear"};
  OneCycle s;
  s.max = words.number("max", defaults.lr);
  s.total_steps = steps_of(words, "total_steps", defaults);
  s.pct_start = words.number("pct_start", s.pct_start);
  s.anneal = static_cast<OneCycle::Anneal>(words.choice("anneal", kAnneals, 0));
  s.div_factor = words.number("div_factor", s.div_factor);
  s.final_div_factor = words.number("final_div_factor", s.final_div_factor);
  s.three_phase = words.flag("three_phase", s.three_phase);
  s.cycle_momentum = words.flag("cycle_momentum", s.cycle_momentum);
  s.base_momentum = words.number("base_momentum", s.base_momentum);
  s.max_momentum = words.number("max_momentum", s.max_momentum);
  return Schedule::one_cycle(s);
}

Schedule parse_cyclic(train::Settings& words, const Defaults& defaults) {
  constexpr const char* kModes[] = {"triangular", "triangular2", "exp_range"};
  Cyclic s;
  s.max = words.number("max", defaults.lr);
  s.min = words.number("min", s.min);
  s.step_size_up = words.integer("step_size_up", s.step_size_up);
  s.step_size_down = words.integer("step_size_down", s.step_size_down);
  s.mode = static_cast<Cyclic::Mode>(words.choice("mode", kModes, 0));
  s.gamma = words.number("gamma", s.gamma);
  s.cycle_momentum = words.flag("cycle_momentum", s.cycle_momentum);
  s.base_momentum = words.number("base_momentum", s.base_momentum);
  s.max_momentum = words.number("max_momentum", s.max_momentum);
  return Schedule::cyclic(s);
}

Schedule parse_plateau(train::Settings& words, const Defaults& defaults) {
  constexpr const char* kModes[] = {"min", "max"};
  constexpr const char* kThresholdModes[] = {"rel", "abs"};
  ReduceOnPlateau s;
  s.lr = words.number("lr", defaults.lr);
  s.mode = static_cast<ReduceOnPlateau::Mode>(words.choice("mode", kModes, 0));
  s.factor = words.number("factor", s.factor);
  s.patience = words.integer("patience", s.patience);
  s.threshold = words.number("threshold", s.threshold);
  s.threshold_mode = static_cast<ReduceOnPlateau::ThresholdMode>(
      words.choice("threshold_mode", kThresholdModes, 0));
  s.cooldown = words.integer("cooldown", s.cooldown);
  s.min_lr = words.number("min_lr", s.min_lr);
  s.epsilon = words.number("epsilon", s.epsilon);
  s.metric = words.word("metric", s.metric);
  return Schedule::reduce_on_plateau(s);
}

// A schedule and its name in texts.
struct Named {
  const char* name;
  Schedule (*parse)(train::Settings& words, const Defaults& defaults);
};

constexpr Named kSchedules[] = {
    {"constant", [](train::Settings& words,
                    const Defaults& d) { return Schedule::constant(words.number("lr", d.lr)); }},
    {"step",
     [](train::Settings& words, const Defaults& d) {
       return Schedule::step({.lr = words.number("lr", d.lr),
                              .step_size = words.integer("step_size", 0),
                              .gamma = words.number("gamma", StepDecay{}.gamma)});
     }},
    {"multi_step",
     [](train::Settings& words, const Defaults& d) {
       return Schedule::multi_step({.lr = words.number("lr", d.lr),
                                    .milestones = words.integers("milestones"),
                                    .gamma = words.number("gamma", MultiStepDecay{}.gamma)});
     }},
    {"exponential",
     [](train::Settings& words, const Defaults& d) {
       return Schedule::exponential(
           {.lr = words.number("lr", d.lr), .gamma = words.number("gamma", 0.0)});
     }},
    {"cosine",
     [](train::Settings& words, const Defaults& d) {
       return Schedule::cosine_annealing({.max = words.number("max", d.lr),
                                          .min = words.number("min", 0.0),
                                          .decay_steps = steps_of(words, "decay_steps", d)});
     }},
    {"cosine_restarts",
     [](train::Settings& words, const Defaults& d) {
       return Schedule::cosine_restarts({.max = words.number("max", d.lr),
                                         .min = words.number("min", 0.0),
                                         .t_0 = words.integer("t_0", 0),
                                         .t_mult = words.integer("t_mult", 1)});
     }},
    {"linear",
     [](train::Settings& words, const Defaults& d) {
       return Schedule::linear({.max = words.number("max", d.lr),
                                .min = words.number("min", 0.0),
                                .decay_steps = steps_of(words, "decay_steps", d)});
     }},
    {"polynomial",
     [](train::Settings& words, const Defaults& d) {
       return Schedule::polynomial({.max = words.number("max", d.lr),
                                    .min = words.number("min", 0.0),
                                    .decay_steps = steps_of(words, "decay_steps", d),
                                    .power = words.number("power", 1.0)});
     }},
    {"one_cycle", parse_one_cycle},
    {"cyclic", parse_cyclic},
    {"reduce_on_plateau", parse_plateau},
};

// One stage's schedule.
Schedule parse_stage(train::Settings& words, const Defaults& defaults) {
  for (const Named& known : kSchedules) {
    if (words.name() == known.name) return known.parse(words, defaults);
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
    Schedule last = parse_stage(words, {lr, total_steps});
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
  const Schedule first = parse_stage(words, {lr, steps});
  words.finish();
  return sequence({{steps, first}, {0, parse(text.substr(slash + 1), lr, left)}});
}

std::vector<std::string> Schedule::names() {
  std::vector<std::string> names;
  for (const Named& schedule : kSchedules) names.emplace_back(schedule.name);
  names.emplace_back("warmup");
  return names;
}

}  // namespace thimble

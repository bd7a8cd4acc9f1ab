#include "train/program_settings.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <array>

#include "program/attrs_bytes.h"
#include "train/counters.h"

namespace thimble::train {
namespace {

constexpr int64_t kMostBatch = int64_t{1} << 24;
constexpr int64_t kMostBytes = int64_t{1} << 50;
// Bits that say how integers are trained.
constexpr int64_t kResidual = 1;
constexpr int64_t kInt8Errors = 2;

std::string words_of(const Optimizer& optimizer) {
  std::string text = optimizer.text();
  if (Optimizer::parse(text) == optimizer) return text;
  throw Error("optimizer", fmt::format("\"{}\" is not all of its settings, so that no program can "
                                       "hold them",
                                       text));
}

std::string words_of(const Schedule& schedule, double lr) {
  std::string text;
  try {
    text = schedule.text();
    if (Schedule::parse(text, lr, 0).text() == text) return text;
  } catch (const Error&) {
  }
  throw Error("schedule",
              "a program cannot hold a schedule that is a function or has stages "
              "within a stage; take one that --schedule can say");
}

// Settings that are said in words; make throws Error where these words are unknown.
template <class Make>
auto known(const program::ByteReader& from, const Make& make) {
  try {
    return make();
  } catch (const Error& error) {
    throw Error(from.file(), fmt::format("names settings that are unknown here: {}; compile it "
                                         "again with the same version of thimble",
                                         error.what()));
  }
}

void write_groups(const std::vector<ParamGroup>& groups, program::ByteWriter& to) {
  to.number(static_cast<int64_t>(groups.size()));
  for (const ParamGroup& group : groups) {
    to.text(group.pattern);
    to.real(group.lr_scale);
    to.flag(group.weight_decay.has_value());
    to.real(group.weight_decay.value_or(0.0));
    to.real(group.l1);
    to.real(group.l2);
    to.flag(group.clip_limit.has_value());
    to.real(group.clip_limit.value_or(0.0));
    to.flag(group.frozen);
  }
}

std::vector<ParamGroup> read_groups(program::ByteReader& from) {
  constexpr size_t kLeastGroup = 9 * 8;
  std::vector<ParamGroup> groups(from.count("groups of parameters", kLeastGroup));
  for (ParamGroup& group : groups) {
    group.pattern = from.text("pattern of a group");
    group.lr_scale = from.real("learning rate of a group");
    const bool has_decay = from.flag("whether a group has weight decay");
    const double decay = from.real("weight decay of a group");
    if (has_decay) group.weight_decay = decay;
    group.l1 = from.real("l1 of a group");
    group.l2 = from.real("l2 of a group");
    const bool has_limit = from.flag("whether a group has a limit of gradients");
    const double limit = from.real("limit of a group's gradients");
    if (has_limit) group.clip_limit = limit;
    group.frozen = from.flag("whether a group is frozen");
  }
  return groups;
}

void write_objectives(const std::vector<Objective>& objectives, program::ByteWriter& to) {
  to.number(static_cast<int64_t>(objectives.size()));
  for (const Objective& objective : objectives) {
    to.text(objective.loss);
    to.text(objective.parameters);
    to.text(objective.optimizer ? words_of(*objective.optimizer) : std::string());
  }
}

std::vector<Objective> read_objectives(program::ByteReader& from) {
  constexpr size_t kLeastObjective = 3 * 8;
  std::vector<Objective> objectives(from.count("objectives", kLeastObjective));
  for (Objective& objective : objectives) {
    objective.loss = from.text("loss of an objective");
    objective.parameters = from.text("pattern of an objective");
    const std::string optimizer = from.text("optimizer of an objective");
    if (!optimizer.empty()) {
      objective.optimizer = known(from, [&] { return Optimizer::parse(optimizer); });
    }
  }
  return objectives;
}

// The numbers of a plan, in the order of a file.
std::array<int64_t Plan::*, 22> numbers_of_plan() {
  return {&Plan::planned_peak_bytes,
          &Plan::lower_bound_bytes,
          &Plan::parameter_bytes,
          &Plan::state_bytes,
          &Plan::saved_state_bytes,
          &Plan::constant_bytes,
          &Plan::padding_bytes,
          &Plan::constant_padding_bytes,
          &Plan::arena_bytes,
          &Plan::activation_peak_bytes,
          &Plan::workspace_bytes,
          &Plan::in_file_bytes,
          &Plan::staging_bytes,
          &Plan::swap_file_bytes,
          &Plan::input_pipeline_bytes,
          &Plan::reserved_bytes,
          &Plan::batch,
          &Plan::micro_batches,
          &Plan::budget_bytes,
          &Plan::nearest_feasible_bytes,
          &Plan::swap_read_bytes,
          &Plan::swap_written_bytes};
}

std::array<double Plan::*, 3> times_of_plan() {
  return {&Plan::swap_busy_ms, &Plan::swap_stall_ms, &Plan::step_ms};
}

}  // namespace

void write_options(const TrainerOptions& options, program::ByteWriter& to) {
  const double lr = options.optimizer.learning_rate();
  to.text(words_of(options.optimizer));
  to.text(options.schedule ? words_of(*options.schedule, lr) : std::string());
  write_groups(options.groups, to);
  write_objectives(options.objectives, to);
  to.number(static_cast<int64_t>(options.clip.kind));
  to.real(options.clip.limit);
  to.real(options.ema_decay);
  to.number(options.batch);
  to.number(options.accumulate);
  to.number(options.memory_budget);
  to.number(static_cast<int64_t>(options.swap));
  to.number(options.micro_batches);
  to.flag(options.split_batch_norm);
  to.number(static_cast<int64_t>(options.precision));
  if (options.precision == DType::f16) {
    to.real(options.loss_scaling.initial);
    to.real(options.loss_scaling.growth);
    to.real(options.loss_scaling.backoff);
    to.number(options.loss_scaling.interval);
  }
  to.number(static_cast<int64_t>(options.saved_activations));
  to.flag(options.quantization_aware_scaling);
  const bool keeps_rest = options.integer_rounding == IntegerRounding::residual;
  to.number((keeps_rest ? kResidual : 0) + (options.error_type == DType::i8 ? kInt8Errors : 0));
  to.number(options.input_pipeline_bytes);
  to.number(static_cast<int64_t>(options.seed));
  to.number(options.threads);
}

TrainerOptions read_options(program::ByteReader& from) {
  TrainerOptions options;
  const std::string optimizer = from.text("optimizer");
  const std::string schedule = from.text("schedule");
  options.optimizer = known(from, [&] { return Optimizer::parse(optimizer); });
  if (!schedule.empty()) {
    const double lr = options.optimizer.learning_rate();
    options.schedule = known(from, [&] { return Schedule::parse(schedule, lr, 0); });
  }
  options.groups = read_groups(from);
  options.objectives = read_objectives(from);
  options.clip.kind = static_cast<GradientClip::Kind>(
      from.number("kind of clipping", 0, static_cast<int64_t>(GradientClip::Kind::global_norm)));
  options.clip.limit = from.real("limit of gradients");
  options.ema_decay = from.real("decay of averages");
  options.batch = from.number("batch", 1, kMostBatch);
  options.accumulate = from.number("accumulated steps", 1, kMostBatch);
  options.memory_budget = from.number("memory budget", 0, kMostBytes);
  options.swap =
      static_cast<Swap>(from.number("kind of swapping", 0, static_cast<int64_t>(Swap::always)));
  options.micro_batches = from.number("micro-batches", 0, options.batch);
  options.split_batch_norm = from.flag("whether batch norms are split");
  options.precision = program::read_dtype("type of activations", from);
  if (options.precision == DType::f16) {
    options.loss_scaling.initial = from.real("first loss scale");
    options.loss_scaling.growth = from.real("growth of the loss scale");
    options.loss_scaling.backoff = from.real("backoff of the loss scale");
    options.loss_scaling.interval = from.number("interval of the loss scale", 1, kMostCount);
  }
  options.saved_activations = program::read_dtype("type of saved activations", from);
  options.quantization_aware_scaling = from.flag("quantization-aware scaling");
  const int64_t integers = from.number("training of integers", 0, kResidual + kInt8Errors);
  if ((integers & kResidual) != 0) options.integer_rounding = IntegerRounding::residual;
  if ((integers & kInt8Errors) != 0) options.error_type = DType::i8;
  options.input_pipeline_bytes = from.number("bytes for reading samples", 0, kMostBytes);
  options.seed = static_cast<uint64_t>(from.number("seed", INT64_MIN, INT64_MAX));
  constexpr int64_t kMostThreads = 1024;
  options.threads = static_cast<int>(from.number("threads", 1, kMostThreads));
  return options;
}

void write_plan(const Plan& plan, program::ByteWriter& to) {
  const auto numbers = numbers_of_plan();
  for (int64_t Plan::*const number : numbers) to.number(plan.*number);
  for (double Plan::*const time : times_of_plan()) to.real(plan.*time);
  to.flag(plan.fits);
  to.text(plan.no_swap);
  to.text(plan.decisions);
  to.number(static_cast<int64_t>(plan.strategies.size()));
  for (const PlanStrategy& strategy : plan.strategies) {
    to.text(strategy.name);
    to.text(strategy.detail);
    to.number(strategy.saved_bytes);
    to.number(strategy.left_bytes);
    to.real(strategy.extra_flops);
    to.number(strategy.extra_io_bytes);
    to.real(strategy.predicted_ms);
    to.flag(strategy.lossless);
  }
}

Plan read_plan(program::ByteReader& from) {
  constexpr size_t kLeastStrategy = 8 * 8;
  Plan plan;
  const auto numbers = numbers_of_plan();
  for (int64_t Plan::*const number : numbers) {
    plan.*number = from.number("a number of the plan", 0, kMostBytes);
  }
  for (double Plan::*const time : times_of_plan()) plan.*time = from.real("a time of the plan");
  plan.fits = from.flag("whether the plan fits");
  plan.no_swap = from.text("why there is no swap file");
  plan.decisions = from.text("decisions of the plan");
  plan.strategies.resize(from.count("strategies of the plan", kLeastStrategy));
  for (PlanStrategy& strategy : plan.strategies) {
    strategy.name = from.text("name of a strategy");
    strategy.detail = from.text("detail of a strategy");
    strategy.saved_bytes = from.number("bytes that a strategy saves", -kMostBytes, kMostBytes);
    strategy.left_bytes = from.number("bytes that a strategy leaves", -kMostBytes, kMostBytes);
    strategy.extra_flops = from.real("work of a strategy");
    strategy.extra_io_bytes = from.number("transfers of a strategy", -kMostBytes, kMostBytes);
    strategy.predicted_ms = from.real("time of a strategy");
    strategy.lossless = from.flag("whether a strategy is lossless");
  }
  return plan;
}

}  // namespace thimble::train

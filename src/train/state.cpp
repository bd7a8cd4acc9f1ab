#include "train/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "passes/passes.h"
#include "plan/strategies.h"
#include "train/compile.h"
#include "train/pipeline_bytes.h"
#include "train/state_bytes.h"
#include "train/update.h"

namespace thimble::train {
namespace {

void check_metric(const ir::Graph& model, const std::string& metric) {
  if (metric.empty()) return;
  for (const auto& [name, id] : model.metrics) {
    if (name == metric) return;
  }
  throw Error("schedule", fmt::format("watches the metric \"{}\", which the graph does not have; "
                                      "name it with Graph::metric",
                                      metric));
}

}  // namespace

State::State(const Graph& graph, const TrainerOptions& wanted)
    : model(graph.ir()),
      options(wanted),
      schedule(wanted.schedule ? *wanted.schedule
                               : Schedule::constant(wanted.optimizer.learning_rate())),
      runner(wanted.threads),
      own_momentum(wanted.optimizer.momentum()) {
  if (options.batch < 1)
    throw Error("batch", fmt::format("expected 1 or more, got {}", options.batch));
  if (options.accumulate < 1) {
    throw Error("accumulate", fmt::format("expected 1 or more, got {}", options.accumulate));
  }
  if (options.micro_batches < 0 || options.micro_batches > options.batch) {
    throw Error("micro_batches",
                fmt::format("expected 1 to the {} samples of a batch, or 0 for as many as the "
                            "memory budget asks for; got {}",
                            options.batch, options.micro_batches));
  }
  check_metric(model, schedule.metric());
  const exec::Counting counting(account);
  if (options.micro_batches == 0 && options.memory_budget > 0) {
    choose_parts();
  } else {
    split(std::max<int64_t>(options.micro_batches, 1));
    compile();
  }
}

void State::split(int64_t parts) {
  part_ = part_size(options.batch, parts);
  ignored_labels_.clear();
  if (parts == 1) return;
  const std::string why = why_not(parts);
  if (!why.empty()) {
    throw Error("micro_batches",
                fmt::format("a batch cannot be computed in {} parts: {}. Set micro_batches to 1, "
                            "or take a smaller batch",
                            parts, why));
  }
  ignored_labels_ = ignored_labels(model);
}

std::string State::why_not(int64_t parts) const {
  TrainerOptions wanted = options;
  wanted.micro_batches = parts;
  return why_not_micro_batches(model, wanted);
}

void State::choose_parts() {
  struct Choice {
    int64_t parts;
    bool fits;
    int64_t bytes;
    double ms;
  };
  const auto is_better = [](const Choice& a, const Choice& b) {
    if (a.fits != b.fits) return a.fits;
    return a.fits ? a.ms < b.ms : a.bytes < b.bytes;
  };
  std::optional<Choice> best;
  for (int64_t parts = 1; parts <= options.batch; parts *= 2) {
    if (parts > 1 && !why_not(parts).empty()) break;
    split(parts);
    compile();
    const Plan now = plan();
    const Choice choice{parts, now.fits, now.planned_peak_bytes, now.step_ms};
    const bool better = !best || is_better(choice, *best);
    // Smaller parts only take longer from here on.
    if (!better && best->fits) break;
    if (better) best = choice;
  }
  split(best->parts);
  compile();
}

void State::allocate() {
  check_budget(plan());
  const exec::Counting counting(account);
  runner.seal(options.swap_dir);
  if (runner.swap_file() != nullptr) compile_by_measured_times();
  runner.store().initialize(options.seed);
  start_averages();
}

void State::compile() {
  if (options.memory_budget <= 0) return compile(0);
  const int64_t bytes = options.memory_budget;
  compile(bytes);
  // The constants of all programs are known now.
  if (plan().planned_peak_bytes > bytes) {
    compile(std::max<int64_t>(bytes - runner.constant_bytes(), 1));
  }
}

void State::compile(int64_t bytes) {
  runner.clear();
  budget_.bytes = bytes;
  budget_.swap = options.swap;
  budget_.in_file.reset();
  budget_.explain = true;
  if (!budget_.times) {
    budget_.times = std::make_shared<plan::NodeTimes>(runner.rates());
  }
  budget_.rates = [this] { return swap_rates(); };
  budget_.least_staging_bytes = exec::SwapFile::staging_bytes(Runner::swap_options(kSwapPage));
  const ProgramKey main = update_key();
  runner.add(main, graph_of(static_cast<ProgramKind>(main.first), part_), budget_);
  const auto add = [&](ProgramKind other, int64_t size) {
    const ProgramKey key{static_cast<int>(other), size};
    if (runner.find(key) != nullptr) return;
    const ir::Graph graph = graph_of(other, size);
    runner.add(key, graph, budget_beside(graph));
  };
  if (accumulates()) {
    const int64_t rest = options.batch % part_;
    for (const int64_t size : {part_, rest == 0 ? part_ : rest}) {
      add(ProgramKind::accumulate, size);
      add(ProgramKind::finish, size);
    }
  }
  add(ProgramKind::evaluate, part_);
}

plan::Budget State::budget_beside(const ir::Graph& graph) const {
  const exec::Program& main = *runner.at(update_key()).program;
  plan::Budget budget = budget_;
  budget.explain = false;
  budget.in_file = main.in_file();
  // All programs use one swap file.
  const int64_t staging = main.plan().staging_bytes;
  if (staging > 0) {
    plan::SwapRates rates = rates_.value_or(plan::SwapRates());
    rates.staging_bytes = budget.least_staging_bytes = staging;
    budget.rates = [rates] { return rates; };
  }
  if (budget.bytes > 0) {
    budget.bytes -= plan::resident_bytes(main.graph(), main.in_file()) -
                    plan::resident_bytes(graph, main.in_file());
    budget.bytes = std::max<int64_t>(budget.bytes, 1);
  }
  return budget;
}

std::optional<plan::SwapRates> State::swap_rates() {
  // A sixteenth of the budget for staging, within reason.
  const int64_t buffer = std::clamp<int64_t>(budget_.bytes / 32 / kSwapPage * kSwapPage, kSwapPage,
                                             int64_t{256} << 10);
  const exec::SwapOptions file = Runner::swap_options(buffer);
  if (!rates_) {
    try {
      const exec::Bandwidth measured = exec::measure_bandwidth(options.swap_dir, file);
      rates_ = plan::SwapRates{.read_ms_per_byte = 1e3 / measured.read_bytes_per_second,
                               .write_ms_per_byte = 1e3 / measured.write_bytes_per_second,
                               .transfer_ms = 1e3 * measured.seconds_per_transfer};
    } catch (const Error&) {
      // Somebody who asks for swap must hear why there is none; else there are other ways.
      if (options.swap == Swap::always) throw;
      return std::nullopt;
    }
  }
  rates_->staging_bytes = exec::SwapFile::staging_bytes(file);
  return rates_;
}

void State::compile_by_measured_times() {
  constexpr int kRounds = 3;
  auto times = std::make_shared<plan::NodeTimes>(*budget_.times);
  runner.at(update_key()).session->measure(kRounds, *times);
  budget_.times = std::move(times);
  compile();
  check_budget(plan());
  runner.seal(options.swap_dir);
}

Plan State::plan() const {
  Plan plan = runner.plan(update_key());
  plan.saved_state_bytes = saved_state_bytes(runner.at(update_key()).program->graph());
  if (part_ < options.batch) add_parts(plan);
  plan.batch = options.batch;
  plan.micro_batches = (options.batch + part_ - 1) / part_;
  plan.budget_bytes = options.memory_budget;
  plan.fits = plan.budget_bytes <= 0 || plan.planned_peak_bytes <= plan.budget_bytes;
  if (!plan.fits) plan.nearest_feasible_bytes = plan.planned_peak_bytes;
  return plan;
}

// The plan of a part becomes that of a whole step.
void State::add_parts(Plan& plan) const {
  const int64_t count = part_size(options.batch, part_);
  plan.step_ms *= static_cast<double>(count);
  plan.swap_stall_ms *= static_cast<double>(count);
  plan.swap_read_bytes *= count;
  plan.swap_written_bytes *= count;
  for (PlanStrategy& strategy : plan.strategies) {
    strategy.extra_flops *= static_cast<double>(count);
    strategy.predicted_ms *= static_cast<double>(count);
    strategy.extra_io_bytes *= count;
  }
  if (plan.strategies.empty()) return;
  const plan::ArenaOptions arena{.threads = runner.threads()};
  const ir::Graph whole = passes::optimize(
      training_graph(model, options, options.batch,
                     options.accumulate == 1 ? StepKind::update : StepKind::finish));
  PlanStrategy& part = plan.strategies.front();
  PlanStrategy parts;
  parts.name = "micro-batches";
  parts.detail = fmt::format("{} of {} samples; sums are rounded otherwise", count, part_);
  parts.left_bytes = part.left_bytes;
  part.left_bytes = plan::apart_bytes(whole, arena);
  parts.saved_bytes = part.left_bytes - parts.left_bytes;
  plan.strategies.insert(plan.strategies.begin() + 1, std::move(parts));
}

ProgramKey State::update_key() const {
  // With accumulation the finishing step does all the other one does, and the update.
  const ProgramKind kind = accumulates() ? ProgramKind::finish : ProgramKind::update;
  return {static_cast<int>(kind), part_};
}

ir::Graph State::inference(int64_t batch, bool with_loss) const {
  return averaged(inference_graph(model, batch, with_loss),
                  runner.at(update_key()).program->graph());
}

void State::start_averages() {
  const exec::Store& store = runner.store();
  for (const exec::Store::Entry& entry : store.entries()) {
    const exec::Store::Entry* average = store.find(entry.name + kAverageSuffix);
    if (average == nullptr) continue;
    runner.store().overwrite(*average, [&](std::span<std::byte> bytes) {
      std::memmove(bytes.data(), store.read(entry).data(), bytes.size());
    });
  }
}

bool State::accumulates() const { return options.accumulate > 1 || part_ < options.batch; }

ProgramKind State::step_kind(bool is_last) const {
  if (!accumulates()) return ProgramKind::update;
  const bool updates = is_last && (progress.step + 1) % options.accumulate == 0;
  return updates ? ProgramKind::finish : ProgramKind::accumulate;
}

Runnable& State::program(ProgramKind kind, int64_t batch) {
  const ProgramKey key{static_cast<int>(kind), batch};
  if (Runnable* const known = runner.find(key)) return *known;
  const exec::Counting counting(account);
  const ir::Graph graph = graph_of(kind, batch);
  return runner.extend(key, graph, budget_beside(graph));
}

ir::Graph State::graph_of(ProgramKind kind, int64_t batch) const {
  switch (kind) {
    case ProgramKind::evaluate:
      return inference(batch, true);
    case ProgramKind::predict:
      return inference(batch, false);
    case ProgramKind::update:
      break;
    case ProgramKind::accumulate:
      return training_graph(model, options, batch, StepKind::accumulate);
    case ProgramKind::finish:
      return training_graph(model, options, batch, StepKind::finish);
  }
  return training_graph(model, options, batch, StepKind::update);
}

void State::prepare_training(int64_t samples) {
  for (const int64_t count : {std::min(samples, options.batch), samples % options.batch}) {
    for_each_part(count, part_, [&](const Part& part) {
      const bool is_last = part.first + part.count == count;
      program(step_kind(is_last), part.count);
      if (options.accumulate == 1 || !is_last) return;
      program(ProgramKind::accumulate, part.count);
      program(ProgramKind::finish, part.count);
    });
  }
}

void State::limit(BatchStream& stream) const {
  if (options.memory_budget <= 0) return;
  stream.keep_to(std::max(options.memory_budget - account->held(), pipeline_bytes(model, options)));
}

void State::prepare(int64_t samples, ProgramKind kind) {
  for (const int64_t count : {std::min(samples, options.batch), samples % options.batch}) {
    for_each_part(count, part_, [&](const Part& part) { program(kind, part.count); });
  }
}

}  // namespace thimble::train

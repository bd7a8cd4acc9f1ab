#include "train/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "exec/swap_probe.h"
#include "ir/sizes.h"
#include "passes/passes.h"
#include "train/compile.h"
#include "train/pipeline_bytes.h"
#include "train/saved_activations.h"
#include "train/scheme.h"
#include "train/state_bytes.h"
#include "train/update.h"

namespace thimble::train {
namespace {

void check_scaling(const LossScaling& scaling) {
  const auto require = [](bool fine, const char* what, double got) {
    if (!fine) throw Error("loss_scaling", fmt::format("{}, got {}", what, got));
  };
  const auto initial = static_cast<float>(scaling.initial);
  require(initial > 0.0F && std::isfinite(initial), "initial must be above 0 and an f32",
          scaling.initial);
  require(scaling.growth >= 1.0 && std::isfinite(scaling.growth), "growth must be at least 1",
          scaling.growth);
  require(scaling.backoff > 0.0 && scaling.backoff < 1.0, "backoff must be above 0 and below 1",
          scaling.backoff);
  require(scaling.interval >= 1, "interval must be at least 1",
          static_cast<double>(scaling.interval));
}

DType checked_precision(const TrainerOptions& options) {
  const DType precision = options.precision;
  if (precision != DType::f32 && precision != DType::bf16 && precision != DType::f16) {
    throw Error("precision",
                fmt::format("expected f32, bf16 or f16, got {}", to_string(precision)));
  }
  check_scaling(options.loss_scaling);
  if (precision != DType::f16 && options.loss_scaling != LossScaling{}) {
    throw Error("loss_scaling", fmt::format("does nothing with the precision {}; leave it out, or "
                                            "train with f16",
                                            to_string(precision)));
  }
  return precision;
}

UpdateScheme chosen_channels(const ir::Graph& model, const TrainerOptions& options) {
  UpdateScheme scheme = *options.scheme;
  if (scheme.choice == UpdateScheme::Choice::contribution && has_ratios(scheme)) {
    throw Error("scheme",
                "chooses channels by their contribution, for which it needs samples: "
                "call choose_channels and train with the scheme that it returns");
  }
  return with_channels(model, scheme, magnitudes(options.seed));
}

}  // namespace

const char* work_of(ProgramKind kind) {
  switch (kind) {
    case ProgramKind::predict:
      return "predicting";
    case ProgramKind::evaluate:
      return "evaluating";
    case ProgramKind::gradients:
      return "computing gradients";
    default:
      return "training";
  }
}

void check_metric(const ir::Graph& model, const std::string& metric) {
  if (metric.empty()) return;
  for (const auto& [name, id] : model.metrics) {
    if (name == metric) return;
  }
  throw Error("schedule", fmt::format("watches the metric \"{}\", which the graph does not have; "
                                      "name it with Graph::metric",
                                      metric));
}

State::State(ir::Graph graph, const TrainerOptions& wanted, Memos* memos, const CompileFor* file)
    : original(graph),
      finishes(take_finishes(graph)),
      model(checked_precision(wanted) == DType::f32
                ? std::move(graph)
                : passes::mixed_precision(graph, wanted.precision)),
      given(model),
      options(wanted),
      schedule(wanted.schedule ? *wanted.schedule
                               : Schedule::constant(wanted.optimizer.learning_rate())),
      runner(wanted.threads,
             !wanted.reference_kernels && (file == nullptr || !file->reference_kernels)),
      indices(index_checks(model)),
      own_momentum(wanted.optimizer.momentum()) {
  if (options.scheme) options.scheme = chosen_channels(*original, options);
  if (finishes.empty() && options.precision == DType::f32) {
    original.reset();
  } else {
    static_cast<void>(GivenValues(*original));
  }
  for (const auto& [name, number] :
       {std::pair{"batch", options.batch}, std::pair{"accumulate", options.accumulate}}) {
    if (number < 1) throw Error(name, fmt::format("expected 1 or more, got {}", number));
    if (number <= ir::kMostElements) continue;
    throw Error(name, fmt::format("expected at most {}, got {}", ir::kMostElements, number));
  }
  if (options.micro_batches < 0 || options.micro_batches > options.batch) {
    throw Error(
        "micro_batches",
        fmt::format("expected 1 to the {} samples of a batch, or \"auto\" (0 in C++) for as "
                    "many as the memory budget asks for; got {}",
                    options.batch, options.micro_batches));
  }
  if (options.memory_budget < 0) {
    throw Error("memory_budget",
                fmt::format("expected a number of bytes, or 0 for no limit; got {}",
                            options.memory_budget));
  }
  check_metric(model, schedule.metric());
  if (file != nullptr) {
    given.require_finite();
    file_ = *file;
    model_parts = io::parts_of(described());
  }
  const exec::Counting counting(account);
  beside_ = exec::Held(sums_bytes(model));
  planner_.emplace(
      planned_,
      std::make_shared<exec::SwapProbe>(options.swap_dir, Runner::swap_options(kSwapPage),
                                        [this] { return account->held(); }),
      plan::TrainingBudget{
          .bytes = options.memory_budget,
          .swap = options.swap,
          .requires_swap = options.swap == Swap::always || !options.swap_dir.empty(),
          .batch = options.batch,
          .micro_batches = options.micro_batches,
          .saved = saved_activations(options.saved_activations),
          .sums_bytes = sums_bytes(model),
          .for_file = file != nullptr,
          .threads = runner.threads()},
      memos);
  planner_->compile_programs();
}

void State::allocate() {
  const exec::Counting counting(account);
  if (planner_) {
    planner_->allocate();
  } else {
    runner.seal(options.swap_dir, options.memory_budget > 0);
  }
  runner.store().initialize(options.seed);
  std::exchange(given, {}).write_to(runner.store());
  start_averages();
  account->forget_peak();  // of measuring and planning
}

Plan State::plan() const {
  if (!planner_) return *compiled_plan_;
  Plan plan = planner_->plan();
  const auto program = runner.programs().find(update_key());
  if (program == runner.programs().end()) return plan;
  const TrainedCounts counts = trained_counts(program->second.program->graph());
  plan.parameters = counts.parameters;
  plan.trained_parameters = counts.trained;
  plan.read_only_bytes = counts.read_only_bytes;
  return plan;
}

double State::expected_stall_ms(double ran_ms, const exec::SwapCounters& swapped) const {
  if (!planner_) return 0.0;
  return planner_->expected_stall_ms(ran_ms - swapped.stall_ms, swapped.busy_ms);
}

ProgramKey State::update_key() const {
  // With accumulation the finishing step does everything the accumulating step does, and the
  // update.
  const ProgramKind kind = accumulates() ? ProgramKind::finish : ProgramKind::update;
  return key_of(kind, micro_batch_size_);
}

ir::Graph State::inference(int64_t batch, bool with_loss) const {
  return averaged(inference_graph(model, batch, with_loss),
                  runner.at(update_key()).program->graph());
}

void State::start_averages() {
  const exec::Store& store = runner.store();
  for (const exec::Store::Entry& average : store.entries()) {
    if (average.average_of->empty()) continue;
    const exec::Store::Entry& parameter = *store.find(average.average_of);
    runner.store().overwrite(average, [&](std::span<std::byte> bytes) {
      std::memmove(bytes.data(), store.read(parameter).data(), bytes.size());
    });
  }
}

bool State::accumulates() const {
  return options.accumulate > 1 || micro_batch_size_ < options.batch;
}

ProgramKind State::step_kind(bool is_last) const {
  if (!accumulates()) return ProgramKind::update;
  const bool updates = is_last && (progress.step + 1) % options.accumulate == 0;
  return updates ? ProgramKind::finish : ProgramKind::accumulate;
}

Runnable& State::program(ProgramKind kind, int64_t batch) {
  const ProgramKey key = key_of(kind, batch);
  if (Runnable* const known = runner.find(key)) return *known;
  if (!planner_) refuse_program(kind, batch);
  const exec::Counting counting(account);
  ir::Graph graph = graph_of(kind, batch);
  const plan::Budget budget = planner_->budget_beside(graph);
  return runner.extend(key, std::move(graph), budget,
                       [&] { planner_->fit_added(key, budget, work_of(kind)); });
}

ir::Graph State::graph_of(ProgramKind kind, int64_t batch) const {
  switch (kind) {
    case ProgramKind::evaluate:
      return inference(batch, true);
    case ProgramKind::predict:
      return inference(batch, false);
    case ProgramKind::update:
      break;
    case ProgramKind::gradients:
      return training_graph(model, options, batch, StepKind::report);
    case ProgramKind::accumulate:
      return training_graph(model, options, batch, StepKind::accumulate);
    case ProgramKind::finish:
      return training_graph(model, options, batch, StepKind::finish);
  }
  return training_graph(model, options, batch, StepKind::update);
}

std::vector<std::pair<ProgramKind, int64_t>> State::training_programs(int64_t samples) const {
  std::vector<std::pair<ProgramKind, int64_t>> needed;
  for (const int64_t count : {std::min(samples, options.batch), samples % options.batch}) {
    for_each_micro_batch(count, micro_batch_size_, [&](const MicroBatch& micro_batch) {
      const bool is_last = micro_batch.first + micro_batch.count == count;
      if (options.accumulate == 1 || !is_last) {
        needed.emplace_back(step_kind(is_last), micro_batch.count);
        return;
      }
      // The finishing step needs more, so its refusal names enough for both.
      needed.emplace_back(ProgramKind::finish, micro_batch.count);
      needed.emplace_back(ProgramKind::accumulate, micro_batch.count);
    });
  }
  return needed;
}

void State::prepare_training(int64_t samples) {
  for (const auto& [kind, count] : training_programs(samples)) program(kind, count);
}

void State::limit(BatchStream& stream) const {
  if (options.memory_budget > 0) stream.keep_to(options.memory_budget - account->held());
}

std::vector<std::pair<ProgramKind, int64_t>> State::forward_programs(int64_t samples,
                                                                     ProgramKind kind) const {
  std::vector<std::pair<ProgramKind, int64_t>> needed;
  for (const int64_t count : {std::min(samples, options.batch), samples % options.batch}) {
    for_each_micro_batch(count, micro_batch_size_, [&](const MicroBatch& micro_batch) {
      needed.emplace_back(kind, micro_batch.count);
    });
  }
  return needed;
}

void State::prepare(int64_t samples, ProgramKind kind) {
  for (const auto& [same_kind, count] : forward_programs(samples, kind)) program(same_kind, count);
}

}  // namespace thimble::train

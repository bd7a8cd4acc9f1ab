#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "exec/accounting.h"
#include "exec/finite.h"
#include "train/checkpoint.h"
#include "train/fit.h"
#include "train/step_times.h"

namespace thimble {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void check(const FitOptions& options) {
  if (options.epochs < 1) {
    throw Error("epochs", fmt::format("expected 1 or more, got {}", options.epochs));
  }
  if (options.initial_epoch < 0) {
    throw Error("initial_epoch", fmt::format("expected 0 or more, got {}", options.initial_epoch));
  }
  if (options.patience < 0) {
    throw Error("patience", fmt::format("expected 0 or more, got {}", options.patience));
  }
}

// The number of epochs, of the whole training, that fit ends with.
int64_t last_epoch(int64_t done, const FitOptions& options) {
  const int64_t wanted = std::max<int64_t>(options.epochs - options.initial_epoch, 0);
  return done + std::min(wanted, std::numeric_limits<int64_t>::max() - done);
}

// One call of Trainer::fit.
class Fitting {
 public:
  Fitting(train::State& state, train::BatchStream& stream, const FitOptions& options,
          const std::function<Evaluation()>& validate)
      : state_(state),
        stream_(stream),
        options_(options),
        validate_(validate),
        last_epoch_(last_epoch(state.progress.epoch, options)),
        feed_(state.model, stream, true) {
    const int64_t batches = stream.batches();
    if (batches > 0 && state.progress.batch > batches) {
      throw Error("fit",
                  fmt::format("training was stopped in epoch {} after {} batches, but an epoch of "
                              "this data set has {}; go on with the data set it was stopped on. To "
                              "train on other data, save a checkpoint and load its weights into a "
                              "new trainer (load_weights)",
                              state.progress.epoch + 1, state.progress.batch, batches));
    }
    result_.input_pipeline_bytes = stream.bytes();
  }

  FitResult run() {
    state_.swapped_by_steps = {};
    state_.ran_ms = 0.0;
    const int64_t skipped_before = state_.skipped_updates();
    while (state_.progress.epoch < last_epoch_) {
      const auto start = Clock::now();
      if (!run_epoch()) {
        result_.end = FitResult::End::stopped;
        require_finite_weights();
        save_if(options_.checkpoint);
        break;
      }
      const bool goes_on = finish_epoch(start);
      if (!goes_on) {
        result_.end = FitResult::End::early;
        break;
      }
      if (state_.progress.epoch < last_epoch_ && options_.stop && options_.stop()) {
        result_.end = FitResult::End::stopped;
        break;
      }
    }
    result_.steps = state_.progress.step;
    result_.loss_scale = state_.loss_scale();
    result_.skipped_updates = state_.skipped_updates() - skipped_before;
    result_.ms_per_step_median = step_times_.median();
    result_.measured_peak_bytes = state_.account->peak();
    result_.swap_read_bytes = state_.swapped_by_steps.read_bytes;
    result_.swap_written_bytes = state_.swapped_by_steps.written_bytes;
    result_.swap_busy_ms = state_.swapped_by_steps.busy_ms;
    result_.swap_stall_ms = state_.swapped_by_steps.stall_ms;
    return std::move(result_);
  }

 private:
  // An update can overflow although its step's loss was finite. Such weights must not replace a
  // good checkpoint.
  void require_finite_weights() const {
    const exec::Store::Entry* const entry = parameter_not_finite();
    if (entry == nullptr) return;
    throw Error("training",
                fmt::format("the update of step {} (epoch {}) left parameter {} not finite, so "
                            "nothing was saved; try a lower learning rate or gradient clipping",
                            state_.progress.step, state_.progress.epoch + 1, entry->name));
  }
  // Null where all are finite.
  [[nodiscard]] const exec::Store::Entry* parameter_not_finite() const {
    for (const exec::Store::Entry& entry : state_.runner.store().entries()) {
      if (entry.role != ir::Role::parameter || entry.is_mapped()) continue;
      if (!exec::is_finite(entry.type, state_.runner.store().read(entry))) return &entry;
    }
    return nullptr;
  }

  // Calls a function that reads samples. Where that fails, the steps before are saved.
  template <class Read>
  auto saved_if_failing(const Read& read) const {
    try {
      return read();
    } catch (const train::NotFinite&) {
      throw;
    } catch (const Error& error) {
      save_before(error);
    }
  }

  // A step that reads its samples itself. A ReadError says that it has changed nothing.
  double step(const data::Batch& batch) {
    try {
      return state_.step(batch, feed_);
    } catch (const train::ReadError& error) {
      save_before(error);
    }
  }

  // Saves the steps before an error in the data that is being handled, and throws it.
  [[noreturn]] void save_before(const Error& error) const {
    const bool is_at_start = state_.progress.step == first_step_;
    if (options_.checkpoint.empty() || is_at_start || parameter_not_finite() != nullptr) throw;
    save_if(options_.checkpoint);
    throw Error(
        error.where(),
        fmt::format("{}. The training up to step {} is saved: mend the data, and resume from {}",
                    error.message(), state_.progress.step, options_.checkpoint));
  }

  // Returns false if it was stopped. An epoch that an error ended is not gone on with: the next
  // begins anew, on whatever data.
  bool run_epoch() {
    try {
      return run_batches();
    } catch (...) {
      state_.progress.batch = 0;
      state_.progress.sums = {};
      throw;
    }
  }

  bool run_batches() {
    train::Progress& progress = state_.progress;
    stream_.start(progress.epoch, progress.batch);
    const auto next = [&] { return saved_if_failing([&] { return stream_.next(); }); };
    while (const data::Batch* batch = next()) {
      const auto start = Clock::now();
      const exec::SwapCounters before = state_.swapped_by_steps;
      const double ran_before = state_.ran_ms;
      const int64_t skipped_before = options_.on_step ? state_.skipped_updates() : 0;
      const double loss = step(*batch);
      progress.sums.add(state_.step_sums());
      const double ms = 1e3 * seconds_since(start) - feed_.take_reading_ms();
      step_times_.add(ms);
      ++progress.batch;
      const exec::SwapCounters swapped = state_.swapped_by_steps - before;
      const double expected_stall_ms =
          state_.expected_stall_ms(state_.ran_ms - ran_before, swapped);
      result_.swap_expected_stall_ms += expected_stall_ms;
      if (options_.on_step) {
        options_.on_step({progress.epoch, batch->number, stream_.batches(), progress.step - 1, loss,
                          state_.learning_rate, ms, swapped.busy_ms, swapped.stall_ms,
                          expected_stall_ms, state_.loss_scale(),
                          state_.skipped_updates() > skipped_before});
      }
      if (options_.stop && options_.stop()) return false;
    }
    return true;
  }

  // Returns false if training ends early.
  bool finish_epoch(Clock::time_point start) {
    train::Progress& progress = state_.progress;
    require_finite_weights();
    EpochReport report;
    report.epoch = progress.epoch;
    report.train = progress.sums.mean(state_.finishes);
    if (validate_) {
      stream_.release();  // validation uses this memory for its samples
      report.validation = saved_if_failing(validate_);
      state_.limit(stream_);
    }
    report.learning_rate = state_.learning_rate;
    const double loss = report.validation ? report.validation->loss : report.train.loss;
    report.is_best = loss < progress.best_loss;
    progress.best_loss = std::min(progress.best_loss, loss);
    progress.epochs_without_gain = report.is_best ? 0 : progress.epochs_without_gain + 1;
    const std::string metric = state_.schedule.metric();
    const Evaluation& watched = report.validation ? *report.validation : report.train;
    state_.schedule.observe(metric.empty() ? loss : watched.metrics.at(metric), progress.schedule);
    ++progress.epoch;
    progress.batch = 0;
    progress.sums = {};
    if (report.is_best) save_if(options_.best_checkpoint);
    save_if(options_.checkpoint);
    report.seconds = seconds_since(start);
    result_.epochs.push_back(report);
    if (options_.on_epoch) options_.on_epoch(report);
    return options_.patience == 0 || progress.epochs_without_gain < options_.patience;
  }

  void save_if(const std::string& path) const {
    if (!path.empty()) train::save_checkpoint(state_, path);
  }

  train::State& state_;
  train::BatchStream& stream_;
  const FitOptions& options_;
  const std::function<Evaluation()>& validate_;
  const int64_t last_epoch_;
  const int64_t first_step_ = state_.progress.step;
  train::Feed feed_;
  train::StepTimes step_times_;
  FitResult result_;
};

}  // namespace

FitResult train::fit(State& state, BatchStream& stream, const FitOptions& options,
                     const std::function<Evaluation()>& validate) {
  check(options);
  const exec::Counting counting(state.account);
  state.prepare_training(stream.samples());
  state.limit(stream);
  return Fitting(state, stream, options, validate).run();
}

FitResult Trainer::fit(const data::Dataset& dataset, const FitOptions& options) {
  check(options);
  train::LoaderStream stream(dataset, {.batch = state_->options.batch,
                                       .shuffle = options.shuffle,
                                       .seed = state_->options.seed,
                                       .prefetch = options.prefetch,
                                       .augment = options.augment});
  std::function<Evaluation()> validate;
  if (options.validation) {
    state_->require_programs(options.validation->size(), train::ProgramKind::evaluate);
    validate = [&] {
      train::LoaderStream rows(*options.validation, {.batch = state_->options.batch,
                                                     .shuffle = false,
                                                     .training = false,
                                                     .prefetch = options.prefetch});
      return state_->evaluate(rows, true);
    };
  }
  return train::fit(*state_, stream, options, validate);
}

}  // namespace thimble

// Runs the programs of a trainer's state: steps, evaluation, prediction.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "train/compile.h"
#include "train/state.h"
#include "train/update.h"

namespace thimble::train {
namespace {

double number(std::span<const std::byte> bytes) {
  float value = 0.0F;
  if (bytes.size() == sizeof(float)) std::memcpy(&value, bytes.data(), sizeof(float));
  return static_cast<double>(value);
}

}  // namespace

void Sums::add(const exec::Session& session, int64_t count) {
  const double weight = static_cast<double>(count);
  loss += weight * number(session.loss());
  for (const auto& [name, id] : session.program().metrics) {
    const std::span<const std::byte> bytes = session.metric(name);
    std::vector<double>& sum = metrics[name];
    sum.resize(bytes.size() / sizeof(float));
    for (size_t i = 0; i < sum.size(); ++i) {
      sum[i] += weight * number(bytes.subspan(i * sizeof(float), sizeof(float)));
    }
  }
  samples += count;
}

void Sums::add(const Sums& more) {
  loss += more.loss;
  for (const auto& [name, added] : more.metrics) {
    std::vector<double>& sum = metrics[name];
    sum.resize(added.size());
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += added[i];
  }
  samples += more.samples;
}

void Sums::clear() {
  loss = 0.0;
  for (auto& [name, sum] : metrics) std::fill(sum.begin(), sum.end(), 0.0);
  samples = 0;
}

Evaluation Sums::mean(const Finishes& finishes) const {
  Evaluation result;
  result.samples = samples;
  if (samples == 0) return result;
  const double weight = 1.0 / static_cast<double>(samples);
  result.loss = weight * loss;
  for (const auto& [name, sum] : metrics) {
    std::vector<double> mean(sum);
    for (double& element : mean) element *= weight;
    const auto finish = finishes.find(name);
    if (finish != finishes.end()) {
      result.metrics[name] = finished(finish->second, mean);
    } else if (!mean.empty()) {
      result.metrics[name] = mean[0];
    }
  }
  return result;
}

namespace {

template <class T>
void set(const exec::Session& session, const char* name, const T& value) {
  const std::span<std::byte> bytes = session.source(name);
  if (bytes.size() == sizeof(T)) std::memcpy(bytes.data(), &value, sizeof(T));
}

std::string named(const std::string& first_bad) {
  return first_bad.empty() ? "the loss itself" : first_bad;
}

void set_rng(const exec::Session& session, uint64_t seed, uint64_t step,
             const MicroBatch& micro_batch) {
  const auto low = [](uint64_t word) { return static_cast<uint32_t>(word); };
  const auto high = [](uint64_t word) { return static_cast<uint32_t>(word >> 32); };
  const uint32_t rng[] = {low(seed),
                          high(seed),
                          low(step),
                          high(step),
                          static_cast<uint32_t>(micro_batch.first),
                          static_cast<uint32_t>(micro_batch.count)};
  set(session, ir::kRngName, rng);
}

}  // namespace

void set_inference_rng(const exec::Session& session, int64_t batch, const MicroBatch& micro_batch) {
  set_rng(session, 0, (uint64_t{1} << 63) + static_cast<uint64_t>(batch), micro_batch);
}

void State::check_count(const data::Batch& batch) const {
  if (batch.count >= 1 && batch.count <= options.batch) return;
  throw Error("batch", fmt::format("expected 1 to {} samples, the trainer's batch; got {}",
                                   options.batch, batch.count));
}

void State::set_sources(const exec::Session& session, const data::Batch& batch,
                        const MicroBatch& micro_batch, Feed& feed, double weight) const {
  feed.copy(batch, micro_batch, session);
  set(session, kLearningRateName, static_cast<float>(learning_rate));
  // Bias corrections count updates, including this one.
  const int64_t update = progress.step / options.accumulate + 1;
  set(session, kUpdateNumberName, static_cast<int32_t>(std::min<int64_t>(update, INT32_MAX)));
  set(session, kMomentumName, static_cast<float>(momentum));
  set(session, kTotalWeightName,
      static_cast<float>(weight + micro_batch_weight(options, micro_batch.count)));
  set_rng(session, options.seed, static_cast<uint64_t>(progress.step), micro_batch);
}

void State::drop_gradients() {
  for (const exec::Store::Entry& entry : runner.store().entries()) {
    if (!entry.sums_gradients) continue;
    runner.store().overwrite(entry, [](std::span<std::byte> bytes) {
      std::fill(bytes.begin(), bytes.end(), std::byte{0});
    });
  }
  progress.weight = 0.0;
}

namespace {

// Reads samples where the step has changed statistics or sums: a ReadError becomes an Error, so
// that nobody takes the state for that before the step.
template <class Read>
void read_within_step(const Read& read) {
  try {
    read();
  } catch (const ReadError& error) {
    throw Error(error.where(), error.message());
  }
}

}  // namespace

void State::run_micro_batch(exec::Session& session, const data::Batch& batch,
                            const MicroBatch& micro_batch, Feed& feed, double weight) {
  const auto read = [&] {
    set_sources(session, batch, micro_batch, feed, weight);
    if (micro_batch.count < batch.count)
      feed.require_counted(ignored_labels_, batch, micro_batch, session);
  };
  // The micro-batches before have changed running statistics, or sums of earlier steps,
  // which are dropped with theirs.
  const bool is_changed =
      micro_batch.first > 0 && (options.accumulate > 1 || options.split_batch_norm);
  try {
    is_changed ? read_within_step(read) : read();
  } catch (...) {
    if (micro_batch.first > 0) drop_gradients();
    throw;
  }
  const auto start = std::chrono::steady_clock::now();
  const bool is_finite = session.run();
  ran_ms +=
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (is_finite) return;
  require_swap_file();
  // The micro-batches before do not complete a step.
  if (micro_batch.first > 0) drop_gradients();
  read_within_step([&] {
    feed.require_indices(indices, batch,
                         fmt::format("So the loss of step {} (epoch {}) is not finite, and no "
                                     "parameter was changed by it",
                                     progress.step + 1, progress.epoch + 1));
    set_sources(session, batch, micro_batch, feed, weight);
  });
  throw Error("training",
              fmt::format("the loss is not finite at step {} (epoch {}, batch {}); the first "
                          "value that went bad is {}. No parameter was changed by this step; "
                          "try a lower learning rate or gradient clipping",
                          progress.step + 1, progress.epoch + 1, batch.number + 1,
                          named(session.first_non_finite())));
}

void State::require_swap_file() const {
  const exec::SwapFile* const file = runner.swap_file();
  if (file == nullptr || file->error().empty()) return;
  throw Error("swap file", file->error() +
                               "; parameters that were there are lost: go on from the last "
                               "checkpoint");
}

namespace {

// Below this scale finite gradients of f16 do not overflow: they are not finite by themselves.
constexpr double kLeastLossScale = 1e-4;

template <class T>
T stored_number(const exec::Store& store, const char* name) {
  T value{};
  const exec::Store::Entry* const entry = store.find(name);
  if (entry == nullptr) return value;
  const std::span<const std::byte> bytes = store.read(*entry);
  if (bytes.size() == sizeof(T)) std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

}  // namespace

double State::loss_scale() const {
  if (options.precision != DType::f16) return 0.0;
  return static_cast<double>(stored_number<float>(runner.store(), kLossScaleName));
}

int64_t State::skipped_updates() const {
  if (options.precision != DType::f16) return 0;
  return stored_number<int32_t>(runner.store(), kSkippedName);
}

void State::check_loss_scale() const {
  if (options.precision != DType::f16) return;
  const double scale = loss_scale();
  if (scale >= kLeastLossScale || scale >= options.loss_scaling.initial) return;
  throw Error("training",
              fmt::format("the gradients of step {} (epoch {}) are not finite, even with the loss "
                          "scaled down to {:g}, and the update was skipped; try a lower learning "
                          "rate or gradient clipping, or the precision bf16",
                          progress.step, progress.epoch + 1, scale));
}

double State::step(const data::Batch& batch, Feed& feed) {
  check_count(batch);
  learning_rate = schedule.at(progress.step / options.accumulate,  // schedules count updates
                              progress.schedule);
  momentum = schedule.momentum(progress.step / options.accumulate).value_or(own_momentum);
  double weight = progress.weight;
  ProgramKind kind = ProgramKind::update;
  step_sums_.clear();
  for_each_micro_batch(batch.count, micro_batch_size_, [&](const MicroBatch& micro_batch) {
    kind = step_kind(micro_batch.first + micro_batch.count == batch.count);
    exec::Session& session = *program(kind, micro_batch.count).session;
    const exec::SwapCounters before = runner.swap_counters();
    run_micro_batch(session, batch, micro_batch, feed, weight);
    swapped_by_steps = swapped_by_steps + (runner.swap_counters() - before);
    weight += micro_batch_weight(options, micro_batch.count);
    step_sums_.add(session, micro_batch.count);
  });
  ++progress.step;
  progress.weight = kind == ProgramKind::accumulate ? weight : 0.0;
  check_loss_scale();
  return step_sums_.loss / static_cast<double>(step_sums_.samples);
}

namespace {

// Puts back what the forward part of a program changes, such as running statistics.
class Restored {
 public:
  Restored(exec::Store& store, const program::Program& program) : store_(store) {
    for (const program::Call& call : program.calls) {
      for (const ir::Alias& update : call.op->memory.updates) {
        const auto in = static_cast<size_t>(update.in);
        if (in >= call.inputs.size() || call.inputs[in] < 0) continue;
        const exec::Store::Entry* const entry = store.find(program.tensor(call.inputs[in]).name);
        if (entry == nullptr) continue;
        const std::span<const std::byte> bytes = store.read(*entry);
        kept_.emplace_back(entry, std::vector<std::byte>(bytes.begin(), bytes.end()));
      }
    }
  }
  void put_back() {
    for (const auto& kept : kept_) {
      store_.overwrite(*kept.first, [&kept](std::span<std::byte> to) {
        std::copy(kept.second.begin(), kept.second.end(), to.begin());
      });
    }
  }

 private:
  exec::Store& store_;
  std::vector<std::pair<const exec::Store::Entry*, std::vector<std::byte>>> kept_;
};

}  // namespace

void State::gradients(const data::Batch& batch, Feed& feed,
                      const std::function<void(const exec::Session&, double share)>& sink) {
  check_count(batch);
  step_sums_.clear();
  for_each_micro_batch(batch.count, micro_batch_size_, [&](const MicroBatch& micro_batch) {
    exec::Session& session = *program(ProgramKind::gradients, micro_batch.count).session;
    Restored restored(runner.store(), session.program());
    set_sources(session, batch, micro_batch, feed, 0.0);
    if (micro_batch.count < batch.count)
      feed.require_counted(ignored_labels_, batch, micro_batch, session);
    const bool is_finite = session.run();
    if (!is_finite) require_swap_file();
    restored.put_back();
    if (!is_finite) {
      feed.require_indices(indices, batch, "So the loss is not finite, and there are no gradients");
      set_sources(session, batch, micro_batch, feed, 0.0);
      throw Error("training",
                  fmt::format("the loss is not finite, so there are no gradients; the first value "
                              "that went bad is {}",
                              named(session.first_non_finite())));
    }
    step_sums_.add(session, micro_batch.count);
    sink(session, static_cast<double>(micro_batch.count) / static_cast<double>(batch.count));
  });
}

void State::evaluate_micro_batch(const data::Batch& batch, const MicroBatch& micro_batch,
                                 Feed& feed, bool while_training, Sums& sums) {
  exec::Session& session = *program(ProgramKind::evaluate, micro_batch.count).session;
  const auto fill = [&] {
    feed.copy(batch, micro_batch, session);
    set_inference_rng(session, batch.number, micro_batch);
  };
  fill();
  if (!session.run()) {
    require_swap_file();
    feed.require_indices(indices, batch, "So the loss is not finite");
    if (while_training) {
      fill();
      throw NotFinite(
          "training",
          fmt::format("the validation loss is not finite after step {} (epoch {}); the "
                      "first value that went bad is {}. Nothing was saved since; try a "
                      "lower learning rate or gradient clipping",
                      progress.step, progress.epoch + 1, named(session.first_non_finite())));
    }
  }
  sums.add(session, micro_batch.count);
}

Evaluation State::evaluate(BatchStream& stream, bool while_training) {
  if (!model.loss) throw Error("evaluate", "the graph has no loss");
  Feed feed(model, stream, true);
  const exec::Counting counting(account);
  prepare(stream.samples(), ProgramKind::evaluate);
  limit(stream);
  stream.start(0, 0);
  Sums sums;
  while (const data::Batch* batch = stream.next()) {
    check_count(*batch);
    for_each_micro_batch(batch->count, micro_batch_size_, [&](const MicroBatch& micro_batch) {
      evaluate_micro_batch(*batch, micro_batch, feed, while_training, sums);
    });
  }
  return sums.mean(finishes);
}

void State::predict(BatchStream& stream,
                    const std::function<void(const exec::Session&, int64_t count)>& sink) {
  Feed feed(model, stream, false);
  const exec::Counting counting(account);
  prepare(stream.samples(), ProgramKind::predict);
  limit(stream);
  stream.start(0, 0);
  while (const data::Batch* batch = stream.next()) {
    check_count(*batch);
    for_each_micro_batch(batch->count, micro_batch_size_, [&](const MicroBatch& micro_batch) {
      exec::Session& session = *program(ProgramKind::predict, micro_batch.count).session;
      feed.copy(*batch, micro_batch, session);
      set_inference_rng(session, batch->number, micro_batch);
      if (!session.run()) require_swap_file();
      sink(session, micro_batch.count);
    });
  }
}

}  // namespace thimble::train

#include "train/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "io/json/parse.h"
#include "io/model/model.h"
#include "io/safetensors/safetensors.h"
#include "train/checked_tensors.h"
#include "train/counters.h"
#include "train/scheme.h"
#include "train/setting_texts.h"
#include "train/stored_tensor.h"

namespace thimble::train {
namespace {

constexpr const char* kFormat = "thimble-checkpoint-1";
constexpr const char* kMetricPrefix = "sum.";

// Sums of gradients are kept between the steps of one update; those of micro-batches are zeros
// after each, so that a run may go on with another number of these.
bool is_saved(const State& state, const exec::Store::Entry& entry) {
  if (entry.role == ir::Role::constant) return false;
  return state.options.accumulate > 1 || !entry.sums_gradients;
}

std::string exact(double value) { return fmt::format("{:a}", value); }

// least: infinity where any number will do, but NaN never.
double real(const io::Safetensors& file, const std::string& key, double least) {
  const std::string& text = file.meta(key);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size() || !(value >= least)) {
    throw Error(file.name(), fmt::format("metadata {}: expected a number of at least {}, got {}",
                                         key, least, io::printable(text)));
  }
  return value;
}

constexpr double kAnyNumber = -std::numeric_limits<double>::infinity();

// A sum over finite losses and weights.
double finite(const io::Safetensors& file, const std::string& key, double least) {
  const double value = real(file, key, least);
  if (std::isfinite(value)) return value;
  throw Error(file.name(),
              fmt::format("metadata {}: expected a finite number, got {}", key, value));
}

// Several numbers, with spaces between them.
std::string exact(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : " ") + exact(value);
  return text;
}

std::vector<double> reals(const io::Safetensors& file, const std::string& key, int64_t count) {
  const std::string& text = file.meta(key);
  std::vector<double> values;
  const char* at = text.c_str();
  while (*at != '\0') {
    char* end = nullptr;
    values.push_back(std::strtod(at, &end));
    if (end == at || (*end != ' ' && *end != '\0')) break;
    at = *end == ' ' ? end + 1 : end;
  }
  if (*at != '\0' || static_cast<int64_t>(values.size()) != count) {
    throw Error(file.name(), fmt::format("metadata {}: expected {} number(s)", key, count));
  }
  return values;
}

int64_t integer(const io::Safetensors& file, const std::string& key) {
  const std::string& text = file.meta(key);
  char* end = nullptr;
  errno = 0;
  const int64_t value = std::strtoll(text.c_str(), &end, 10);
  const bool is_whole = !text.empty() && end == text.c_str() + text.size() && errno == 0;
  if (!is_whole || value < 0 || value > kMostCount) {
    throw Error(file.name(),
                fmt::format("metadata {}: expected a whole number from 0 to {}, got {}", key,
                            kMostCount, io::printable(text)));
  }
  return value;
}

// Settings on which results depend; a resumed run must have the same. The number of micro-batches
// only changes the rounding of sums, except with split batch norms.
io::Metadata settings_of(const State& state) {
  const TrainerOptions& options = state.options;
  const bool splits = options.split_batch_norm && state.micro_batch_size() < options.batch;
  io::Metadata settings = setting_texts(options, state.schedule);
  settings["seed"] = std::to_string(options.seed);
  settings[kSchemeKey] = options.scheme ? options.scheme->text() : std::string(kNoScheme);
  settings["split_batch_norm"] =
      splits ? fmt::format("micro-batches of {}", state.micro_batch_size()) : std::string("off");
  return settings;
}

// Old checkpoints do not have these settings.
bool is_optional(const std::string& key) {
  return key == "clip" || key == "groups" || key == "objectives" || key == "precision" ||
         key == "loss_scaling" || key == "saved_activations" || key == "split_batch_norm" ||
         key == kSchemeKey || key == kScalingKey || key == kRoundingKey || key == kErrorTypeKey;
}

void copy_tensor(const io::Safetensors& file, exec::Store& store, const exec::Store::Entry& entry,
                 const std::string& name) {
  const io::TensorView& tensor = *file.find(name);
  if (entry.is_mapped() && (!is_packed(entry.type.dtype) || is_held_packed(tensor, entry.type))) {
    io::Safetensors::Mapped mapped = file.map(tensor);
    if (mapped.owner != nullptr) return store.map(entry, std::move(mapped.owner), mapped.bytes);
  }
  if (!is_packed(entry.type.dtype)) {
    store.overwrite(entry, [&](std::span<std::byte> bytes) { file.load(tensor, 0, bytes); });
    return;
  }
  const std::vector<std::byte> bytes = read_tensor(file, entry.type, name);
  store.overwrite(
      entry, [&](std::span<std::byte> to) { std::copy(bytes.begin(), bytes.end(), to.begin()); });
}

// The name in the file of a value of a training. Files of format 1 may hold states of thimble's own
// under names without its prefix.
std::string checkpoint_name(const io::Safetensors& file, const exec::Store& store,
                            const exec::Store::Entry& entry) {
  if (!ir::is_own_name(entry.name) || file.find(entry.name) != nullptr) return entry.name;
  std::string plain = entry.name.substr(1);
  return file.find(plain) != nullptr && store.find(plain) == nullptr ? plain : entry.name;
}

Progress progress_of(const State& state, const io::Safetensors& file) {
  Progress progress;
  progress.step = integer(file, "step");
  progress.epoch = integer(file, "epoch");
  progress.batch = integer(file, "batch");
  progress.best_loss = real(file, "best_loss", kAnyNumber);
  progress.epochs_without_gain = integer(file, "epochs_without_gain");
  progress.schedule.epochs = integer(file, "schedule_epochs");
  progress.schedule.rate = finite(file, "schedule_rate", 0.0);
  progress.schedule.best = real(file, "schedule_best", kAnyNumber);
  progress.schedule.bad_epochs = integer(file, "schedule_bad_epochs");
  progress.schedule.cooldown = integer(file, "schedule_cooldown");
  progress.sums.samples = integer(file, "samples");
  progress.weight = finite(file, "accumulated_weight", 0.0);
  progress.sums.loss = finite(file, "sum_loss", kAnyNumber);
  for (const auto& [name, id] : state.model.metrics) {
    const std::string key = kMetricPrefix + name;
    if (file.metadata().count(key) == 0) continue;
    progress.sums.metrics[name] = reals(file, key, state.model.type(id).shape.elements());
  }
  return progress;
}

[[noreturn]] void refuse_setting(const std::string& path, const std::string& key,
                                 const std::string& there, const std::string& here) {
  const char* const stretches = key == "schedule" ? " and the same number of epochs" : "";
  const char* const longer = key == "schedule" ? ", longer if you like," : "";
  throw Error(
      path,
      fmt::format("was made with {} \"{}\", this run has \"{}\"; resume with the same {}{}, "
                  "or begin a new training{} with its weights alone (load_weights; on the "
                  "command line --weights)",
                  name_of_setting(key), readable_setting(key, there), readable_setting(key, here),
                  key == "batch_size" ? "batch" : key, stretches, longer));
}

}  // namespace

void save_checkpoint(const State& state, const std::string& path) {
  std::vector<io::TensorView> tensors;
  const auto unpacked = std::make_shared<std::vector<std::byte>>();
  io::Metadata metadata = settings_of(state);
  const exec::Store& store = state.runner.store();
  for (const exec::Store::Entry& entry : store.entries()) {
    if (!is_saved(state, entry)) continue;
    tensors.push_back(stored_tensor(store, entry, unpacked));
    if (!entry.average_of->empty()) metadata[kAverageKey + entry.name] = *entry.average_of;
  }
  const Progress& progress = state.progress;
  metadata[io::kFormatKey] = kFormat;
  metadata["step"] = std::to_string(progress.step);
  metadata["epoch"] = std::to_string(progress.epoch);
  metadata["batch"] = std::to_string(progress.batch);
  metadata["best_loss"] = exact(progress.best_loss);
  metadata["epochs_without_gain"] = std::to_string(progress.epochs_without_gain);
  metadata["schedule_epochs"] = std::to_string(progress.schedule.epochs);
  metadata["schedule_rate"] = exact(progress.schedule.rate);
  metadata["schedule_best"] = exact(progress.schedule.best);
  metadata["schedule_bad_epochs"] = std::to_string(progress.schedule.bad_epochs);
  metadata["schedule_cooldown"] = std::to_string(progress.schedule.cooldown);
  metadata["samples"] = std::to_string(progress.sums.samples);
  metadata["accumulated_weight"] = exact(progress.weight);
  metadata["sum_loss"] = exact(progress.sums.loss);
  for (const auto& [name, sum] : progress.sums.metrics) metadata[kMetricPrefix + name] = exact(sum);
  if (state.model_parts) {
    io::add_model(*state.model_parts, metadata, tensors);
  } else {
    io::add_model(state.described(), metadata, tensors);
  }
  io::write_safetensors(path, tensors, metadata);
}

void load_checkpoint(State& state, const std::string& path) {
  const io::Safetensors file = io::Safetensors::open(path);
  if (file.meta(io::kFormatKey) == io::kModelFormat) {
    throw Error(path,
                "is a model file and holds no state of a training; begin a new one with its "
                "weights (load_model, load_weights; on the command line thimble train FILE)");
  }
  if (file.meta(io::kFormatKey) != kFormat) {
    throw Error(path, "has format " + file.meta(io::kFormatKey) + ", expected " + kFormat);
  }
  const exec::Store& store = state.runner.store();
  const auto& entries = store.entries();
  const auto name_of = [&](const exec::Store::Entry& entry) {
    return checkpoint_name(file, store, entry);
  };
  // Tensors are checked first: the settings of another model mean nothing.
  for (const exec::Store::Entry& entry : entries) {
    if (entry.role == ir::Role::parameter) check_tensor(file, entry.type, entry.name);
  }
  for (const auto& [key, value] : settings_of(state)) {
    if (is_optional(key) && file.metadata().count(key) == 0) continue;
    if (file.meta(key) != value) refuse_setting(path, key, file.meta(key), value);
  }
  const Progress progress = progress_of(state, file);
  for (const exec::Store::Entry& entry : entries) {
    const bool is_checked = entry.role == ir::Role::parameter;
    if (is_saved(state, entry) && !is_checked) check_tensor(file, entry.type, name_of(entry));
  }
  std::set<std::string> checked;
  for (const exec::Store::Entry& entry : entries) {
    if (is_saved(state, entry)) checked.insert(name_of(entry));
  }
  check_others(file, checked);
  state.drop_gradients();
  for (const exec::Store::Entry& entry : entries) {
    if (is_saved(state, entry)) copy_tensor(file, state.runner.store(), entry, name_of(entry));
  }
  state.runner.rebind();
  state.progress = progress;
}

void load_weights(exec::Store& store, const ir::Graph& model, const std::string& path) {
  const io::Safetensors file = io::Safetensors::open(path);
  // Each entry and its name in the file.
  std::vector<std::pair<const exec::Store::Entry*, std::string>> wanted;
  const Averages averages = averages_in(file);
  for (const ir::ValueData& data : model.values) {
    if (data.producer >= 0 || data.role == ir::Role::constant) continue;
    const exec::Store::Entry* entry = store.find(data.name);
    if (entry == nullptr) continue;
    wanted.emplace_back(entry, name_in_file(averages, data.name));
  }
  std::set<std::string> checked;
  for (const auto& [entry, name] : wanted) {
    check_tensor(file, entry->type, name);
    checked.insert(name);
  }
  check_others(file, checked);
  for (const auto& [entry, name] : wanted) copy_tensor(file, store, *entry, name);
}

void load_weights(State& state, const ir::Graph& model, const std::string& path) {
  const exec::Counting counting(state.account);
  load_weights(state.runner.store(), model, path);
  state.runner.rebind();
  state.start_averages();
}

}  // namespace thimble::train

#include "train/training_check.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "exec/swap_file.h"
#include "ir/mapped.h"
#include "train/pipeline_bytes.h"
#include "train/state.h"

namespace thimble::train {

void refuse_file(const std::string& file, const std::string& what) {
  throw Error(file, what + "; the file is damaged or was put together wrongly: compile it again");
}

namespace {

// The model's values and results by name. Files are hostile, so nothing is looked for in a row.
class ModelNames {
 public:
  explicit ModelNames(const ir::Graph& model) {
    for (const ir::ValueData& value : model.values) values_.try_emplace(key_of(value), &value.type);
    for (const auto& [name, id] : model.metrics) metrics_.try_emplace(name, &model.type(id));
    for (const auto& [name, id] : model.outputs) outputs_.try_emplace(name, &model.type(id));
  }

  // Their types; null: there is none. Those of a tensor's name and role, of a metric, of an output.
  [[nodiscard]] const ir::TensorType* value(const program::Tensor& tensor) const {
    return find(values_, key_of(tensor));
  }
  [[nodiscard]] const ir::TensorType* metric(std::string_view name) const {
    return find(metrics_, name);
  }
  [[nodiscard]] const ir::TensorType* output(std::string_view name) const {
    return find(outputs_, name);
  }

 private:
  using Key = std::pair<ir::Role, std::string_view>;
  template <class Named>
  static Key key_of(const Named& named) {
    return {named.role, std::string_view(named.name)};
  }
  template <class Map, class Wanted>
  static const ir::TensorType* find(const Map& map, const Wanted& wanted) {
    const auto known = map.find(wanted);
    return known == map.end() ? nullptr : known->second;
  }

  std::map<Key, const ir::TensorType*> values_;
  std::map<std::string_view, const ir::TensorType*> metrics_;
  std::map<std::string_view, const ir::TensorType*> outputs_;
};

// Whether a type is that of the model with this batch. wanted: null where the model has none.
bool is_of_batch(const ir::TensorType& type, const ir::TensorType* wanted, int64_t batch) {
  return wanted != nullptr && wanted->dtype == type.dtype &&
         ir::with_batch(wanted->shape, batch) == type.shape;
}

// Whether inputs and labels of a program are those of the model, with its batch.
void check_fields(const ModelNames& model, const ProgramKey& key, const program::Program& program,
                  const std::string& file) {
  for (const program::Tensor& tensor : program.tensors) {
    if (!tensor.is_source || (tensor.role != ir::Role::input && tensor.role != ir::Role::label)) {
      continue;
    }
    if (is_of_batch(tensor.type, model.value(tensor), key.batch)) continue;
    refuse_file(file, fmt::format("the program for {} samples reads \"{}\", which is no such field "
                                  "of the model",
                                  key.batch, tensor.name));
  }
}

// Whether loss, metrics and outputs of a program are those of the model.
void check_results(const ModelNames& model, const ProgramKey& key, const program::Program& program,
                   const std::string& file) {
  if (program.loss && program.tensor(*program.loss).type != ir::TensorType{DType::f32, {}}) {
    refuse_file(file, "a loss is no number of 32 bits");
  }
  const auto require = [&](const std::string& name, int id, const ir::TensorType* wanted) {
    if (is_of_batch(program.tensor(id).type, wanted, key.batch)) return;
    refuse_file(file, fmt::format("the program for {} samples computes \"{}\", which is no such "
                                  "result of the model",
                                  key.batch, name));
  };
  for (const auto& [name, id] : program.metrics) require(name, id, model.metric(name));
  // Beside those of the model, a step has the parameters and states that it does not read.
  for (const auto& [name, id] : program.outputs) {
    const program::Tensor& tensor = program.tensor(id);
    const ir::TensorType* const kept = model.value(tensor);
    const bool is_kept = tensor.place == program::Place::stored && tensor.name == name &&
                         kept != nullptr && *kept == tensor.type;
    if (!is_kept) require(name, id, model.output(name));
  }
}

// All programs share one store, one arena and one swap file.
void check_swap(const program::Program& program, const program::Program& main,
                const std::string& file) {
  if (program.in_file != main.in_file && !(program.in_file.empty() && main.in_file.empty())) {
    refuse_file(file, "two programs keep other parameters in the swap file");
  }
  if (program.slot_bytes.empty()) return;
  if (program.slot_bytes.size() < program.in_file.size()) {
    refuse_file(file, "the swap file has too few slots");
  }
  std::map<std::string_view, int64_t> room;
  size_t slot = 0;
  for (const std::string& name : program.in_file) room[name] = program.slot_bytes[slot++];
  for (const program::Stored& stored : program.stored) {
    const auto known = room.find(stored.name);
    if (known == room.end()) continue;
    if (size_bytes(stored.type.dtype, stored.type.shape) <= known->second) continue;
    refuse_file(file, fmt::format("the slot of {} in the swap file is too small", stored.name));
  }
  const exec::SwapOptions least = Runner::swap_options(kSwapPage);
  if (program.staging_bytes < exec::SwapFile::staging_bytes(least)) {
    refuse_file(file, "the swap file has too little staging");
  }
}

// The memory of all programs together, as the trainer takes it, must be what the plan says, and the
// plan must keep the budget.
void check_memory(const TrainingProgram& training, const std::string& file) {
  std::map<std::string, int64_t> stored;
  std::map<const std::byte*, int64_t> constants;
  int64_t arena = 0;
  int64_t staging = 0;
  for (const auto& [key, program] : training.programs) {
    arena = std::max(arena, program.arena_bytes);
    staging = std::max(staging, program.staging_bytes);
    for (const program::Stored& each : program.stored) {
      const bool is_in_file =
          program.in_file.count(*each.name) > 0 || ir::is_mapped(each.role, each.type);
      const int64_t bytes = size_bytes(each.type.dtype, each.type.shape);
      stored[*each.name] = is_in_file ? 0 : plan::aligned(bytes);
    }
    for (const program::Tensor& tensor : program.tensors) {
      if (tensor.place != program::Place::constant) continue;
      int64_t& bytes = constants[program.constants[static_cast<size_t>(tensor.at)].get()];
      bytes = std::max(bytes, plan::aligned(tensor.bytes()));
    }
  }
  int64_t needed = arena + staging;
  for (const auto& [name, bytes] : stored) needed += bytes;
  for (const auto& [contents, bytes] : constants) needed += bytes;
  const Plan& plan = training.plan;
  if (needed > plan.planned_peak_bytes) {
    refuse_file(file, fmt::format("its programs need {} bytes, but its plan says {}", needed,
                                  plan.planned_peak_bytes));
  }
  const int64_t all =
      plan.planned_peak_bytes + pipeline_bytes(training.interface, training.options) +
      std::max(plan.reserved_bytes, training.tables_bytes + sums_bytes(training.interface));
  if (training.options.memory_budget > 0 && all > training.options.memory_budget) {
    refuse_file(file,
                fmt::format("its plan needs {} bytes with the reading of samples and the tables "
                            "of its programs, but its memory budget is {}",
                            all, training.options.memory_budget));
  }
}

// A parameter or state that programs share.
struct Known {
  ir::TensorType type;
  ir::Role role;
  friend bool operator==(const Known&, const Known&) = default;
};

// An average is a state that is copied from its parameter, so both have one type.
void check_averages(const TrainingProgram& training, const std::map<std::string, Known>& values,
                    const std::string& file) {
  for (const auto& [key, program] : training.programs) {
    for (const program::Stored& stored : program.stored) {
      if (stored.average_of->empty()) continue;
      const auto parameter = values.find(stored.average_of);
      const bool is_average_of =
          parameter != values.end() && parameter->second == Known{stored.type, ir::Role::parameter};
      if (is_average_of && stored.role == ir::Role::state) continue;
      refuse_file(file, fmt::format("{} is the average of \"{}\", which is no parameter of its "
                                    "type, or it is itself no state",
                                    stored.name, stored.average_of));
    }
  }
}

}  // namespace

void check_training(const TrainingProgram& training, const std::string& file) {
  const bool accumulates =
      training.options.accumulate > 1 || training.micro_batch_size < training.options.batch;
  const ProgramKind updating = accumulates ? ProgramKind::finish : ProgramKind::update;
  const auto main = training.programs.find(key_of(updating, training.micro_batch_size));
  if (main == training.programs.end()) refuse_file(file, "the program that updates is missing");
  if (!main->second.in_file.empty() && main->second.slot_bytes.empty()) {
    refuse_file(file, "parameters lie in a swap file that has no slots");
  }
  const ModelNames model(training.interface);
  std::map<std::string, Known> values;
  for (const auto& [key, program] : training.programs) {
    if (program.threads != training.options.threads) {
      refuse_file(file, "two programs are for other numbers of threads");
    }
    check_fields(model, key, program, file);
    check_results(model, key, program, file);
    if (key.kind != static_cast<int>(ProgramKind::predict) &&
        (!program.loss || program.metrics.size() != training.interface.metrics.size())) {
      refuse_file(file, "a program computes no loss, or not all metrics");
    }
    check_swap(program, main->second, file);
    for (const program::Stored& stored : program.stored) {
      const Known wanted{stored.type, stored.role};
      const auto [known, is_new] = values.emplace(*stored.name, wanted);
      if (known->second == wanted) continue;
      refuse_file(file, fmt::format("{} has two types or roles", stored.name));
    }
  }
  check_memory(training, file);
  check_averages(training, values, file);
}

}  // namespace thimble::train

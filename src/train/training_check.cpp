#include "train/training_check.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>

#include "exec/swap_file.h"
#include "train/pipeline_bytes.h"
#include "train/state.h"

namespace thimble::train {

void refuse_file(const std::string& file, const std::string& what) {
  throw Error(file, what + "; the file is damaged or was put together wrongly: compile it again");
}

namespace {

// Whether inputs and labels of a program are those of the model, with its batch.
void check_fields(const TrainingProgram& training, const ProgramKey& key,
                  const program::Program& program, const std::string& file) {
  for (const program::Tensor& tensor : program.tensors) {
    if (!tensor.is_source || (tensor.role != ir::Role::input && tensor.role != ir::Role::label)) {
      continue;
    }
    const auto& values = training.interface.values;
    const auto known = std::find_if(values.begin(), values.end(), [&](const auto& value) {
      return value.role == tensor.role && value.name == *tensor.name;
    });
    if (known == values.end() || known->type.dtype != tensor.type.dtype ||
        ir::with_batch(known->type.shape, key.second) != tensor.type.shape) {
      refuse_file(file,
                  fmt::format("the program for {} samples reads \"{}\", which is no such field of "
                              "the model",
                              key.second, tensor.name));
    }
  }
}

// Whether loss, metrics and outputs of a program are those of the model.
void check_results(const TrainingProgram& training, const ProgramKey& key,
                   const program::Program& program, const std::string& file) {
  const ir::Graph& model = training.interface;
  if (program.loss && program.tensor(*program.loss).type != ir::TensorType{DType::f32, {}}) {
    refuse_file(file, "a loss is no number of 32 bits");
  }
  const auto check = [&](const auto& named, const auto& of_model) {
    for (const auto& [name, id] : named) {
      const auto known = std::find_if(of_model.begin(), of_model.end(),
                                      [&name = name](const auto& it) { return it.first == name; });
      const ir::TensorType& type = program.tensor(id).type;
      if (known == of_model.end() || model.type(known->second).dtype != type.dtype ||
          ir::with_batch(model.type(known->second).shape, key.second) != type.shape) {
        refuse_file(
            file, fmt::format("the program for {} samples computes \"{}\", which is no such result "
                              "of the model",
                              key.second, name));
      }
    }
  };
  check(program.metrics, model.metrics);
  // Beside those of the model, a step has the parameters and states that it does not read.
  std::vector<std::pair<std::string, int>> computed;
  for (const auto& [name, id] : program.outputs) {
    const program::Tensor& tensor = program.tensor(id);
    const bool is_kept =
        tensor.place == program::Place::stored && tensor.name == name &&
        std::any_of(model.values.begin(), model.values.end(), [&tensor](const ir::ValueData& v) {
          return v.name == tensor.name && v.role == tensor.role && v.type == tensor.type;
        });
    if (!is_kept) computed.emplace_back(name, id);
  }
  check(computed, model.outputs);
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
  size_t slot = 0;
  for (const std::string& name : program.in_file) {  // in the order of its slots
    for (const program::Stored& stored : program.stored) {
      if (stored.name == name &&
          size_bytes(stored.type.dtype, stored.type.shape) > program.slot_bytes[slot]) {
        refuse_file(file, fmt::format("the slot of {} in the swap file is too small", name));
      }
    }
    ++slot;
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
      const bool is_in_file = program.in_file.count(*each.name) > 0;
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
  const int64_t all = plan.planned_peak_bytes +
                      pipeline_bytes(training.interface, training.options) +
                      std::max(plan.reserved_bytes, training.tables_bytes);
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
  const auto main = training.programs.find({static_cast<int>(updating), training.micro_batch_size});
  if (main == training.programs.end()) refuse_file(file, "the program that updates is missing");
  if (!main->second.in_file.empty() && main->second.slot_bytes.empty()) {
    refuse_file(file, "parameters lie in a swap file that has no slots");
  }
  std::map<std::string, Known> values;
  for (const auto& [key, program] : training.programs) {
    if (program.threads != training.options.threads) {
      refuse_file(file, "two programs are for other numbers of threads");
    }
    check_fields(training, key, program, file);
    check_results(training, key, program, file);
    if (key.first != static_cast<int>(ProgramKind::predict) &&
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

#include "train/training_program.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <iterator>

#include "exec/memory.h"
#include "exec/swap_file.h"
#include "ir/sizes.h"
#include "program/attrs_bytes.h"
#include "program/sections.h"
#include "program/serialize.h"
#include "train/counters.h"
#include "train/pipeline_bytes.h"
#include "train/program_model.h"
#include "train/program_settings.h"
#include "train/program_tables.h"
#include "train/state.h"

namespace thimble::train {
namespace {

constexpr int64_t kMostOfOpenBatch = int64_t{INT32_MAX} * kBatch;
constexpr int64_t kMostIndexBatch = int64_t{1} << 24;
constexpr auto kLastKind = static_cast<int64_t>(ProgramKind::predict);
constexpr auto kLastRole = static_cast<int64_t>(ir::Role::gradient);
constexpr size_t kLeastValue = 4 * 8;
constexpr size_t kLeastCheck = 4 * 8;

void write_interface(const ir::Graph& graph, program::ByteWriter& to) {
  to.number(static_cast<int64_t>(graph.values.size()));
  for (const ir::ValueData& data : graph.values) {
    to.text(*data.name);
    program::write_type(data.type, to);
    to.number(static_cast<int64_t>(data.role));
  }
  to.number(graph.loss.value_or(-1));
  for (const auto* const named : {&graph.outputs, &graph.metrics}) {
    to.number(static_cast<int64_t>(named->size()));
    for (const auto& [name, id] : *named) {
      to.text(name);
      to.number(id);
    }
  }
}

ir::Graph read_interface(program::ByteReader& from) {
  ir::Graph graph;
  const size_t values = from.count("values of the model", kLeastValue);
  for (size_t i = 0; i < values; ++i) {
    ir::ValueData data;
    data.name = from.name("name of a value");
    data.type = program::read_type(from, kMostOfOpenBatch);
    data.role = static_cast<ir::Role>(from.number("role of a value", 0, kLastRole));
    const bool is_field = data.role == ir::Role::input || data.role == ir::Role::label;
    const std::vector<int64_t>& dims = data.type.shape.dims();
    if (is_field && (dims.empty() || dims[0] != kBatch)) {
      from.fail("shape of a value", fmt::format("of the field \"{}\" has no batch", data.name));
    }
    graph.values.push_back(std::move(data));
  }
  const auto last = static_cast<int64_t>(values) - 1;
  const int64_t loss = from.number("loss of the model", -1, last);
  if (loss >= 0) graph.loss = static_cast<int>(loss);
  for (auto* const named : {&graph.outputs, &graph.metrics}) {
    named->resize(from.count("results of the model", 2 * 8));
    for (auto& [name, id] : *named) {
      name = from.name("name of a result");
      id = static_cast<int>(from.number("number of a result", 0, last));
    }
  }
  for (const auto& [name, id] : graph.metrics) {
    if (graph.type(id).dtype == DType::f32) continue;
    from.fail("a metric", fmt::format("\"{}\" is not f32", name));
  }
  return graph;
}

void write_finishes(const Finishes& finishes, program::ByteWriter& to) {
  to.number(static_cast<int64_t>(finishes.size()));
  for (const auto& [name, finish] : finishes) {
    to.text(name);
    to.text(finish.op->name);
    program::write_attrs(finish.attrs, to);
    program::write_type(finish.mean, to);
  }
}

// Whether the op takes the mean and makes one number of it.
void require_score(const Finish& finish, const program::ByteReader& from) {
  const ir::TensorType* const mean = &finish.mean;
  try {
    const auto made = ir::infer_types(*finish.op, finish.attrs, std::span(&mean, 1));
    if (made.size() == 1 && made[0] == ir::TensorType{DType::f32, {}}) return;
  } catch (const Error& error) {
    from.fail("a score", fmt::format("does not fit its op: {}", error.what()));
  }
  from.fail("a score", "is no single number");
}

// The score of a metric is computed from the metric itself, by an op that takes such means.
void read_finishes(TrainingProgram& training, program::ByteReader& from) {
  constexpr size_t kLeastFinish = 6 * 8;
  const size_t count = from.count("scores of an epoch", kLeastFinish);
  for (size_t i = 0; i < count; ++i) {
    const std::string name = from.text("metric of a score");
    const std::string op = from.text("op of a score");
    Finish finish;
    finish.op = ir::find_op(op);
    if (finish.op == nullptr || !finish.op->flow.of_means) {
      from.fail("op of a score", fmt::format("is \"{}\", which computes none", op));
    }
    finish.attrs = program::read_attrs(finish.op->signature.attrs, from);
    finish.mean = program::read_type(from);
    const auto& metrics = training.interface.metrics;
    const auto metric = std::find_if(metrics.begin(), metrics.end(),
                                     [&](const auto& known) { return known.first == name; });
    if (metric == metrics.end() || training.interface.type(metric->second) != finish.mean) {
      from.fail("metric of a score", fmt::format("\"{}\" is none of its type", name));
    }
    require_score(finish, from);
    training.finishes.emplace(name, std::move(finish));
  }
}

void write_checks(const TrainingProgram& training, program::ByteWriter& to) {
  to.number(static_cast<int64_t>(training.indices.size()));
  for (const IndexCheck& check : training.indices) {
    to.text(check.source);
    to.text(check.op);
    to.number(check.size);
    to.flag(check.ignored.has_value());
    to.number(check.ignored.value_or(0));
  }
  to.number(static_cast<int64_t>(training.ignored_labels.size()));
  for (const IgnoredLabel& label : training.ignored_labels) {
    to.text(label.source);
    to.number(label.value);
  }
}

// Indices are 32 bits wide and come with the data.
void require_indices(const TrainingProgram& training, const std::string& source,
                     const program::ByteReader& from) {
  for (const ir::ValueData& value : training.interface.values) {
    const bool is_field = value.role == ir::Role::input || value.role == ir::Role::label;
    if (is_field && *value.name == source && value.type.dtype == DType::i32) return;
  }
  from.fail("field of indices", fmt::format("\"{}\" is no input or label of i32", source));
}

void read_checks(TrainingProgram& training, program::ByteReader& from) {
  training.indices.resize(from.count("checks of indices", kLeastCheck));
  for (IndexCheck& check : training.indices) {
    check.source = from.text("field of indices");
    require_indices(training, check.source, from);
    check.op = from.text("op of indices");
    check.size = from.number("number of classes or rows", 0, INT64_MAX / kMostIndexBatch);
    const bool has_ignored = from.flag("whether an index is ignored");
    const int64_t ignored = from.number("ignored index", INT32_MIN, INT32_MAX);
    if (has_ignored) check.ignored = ignored;
  }
  training.ignored_labels.resize(from.count("ignored labels", 2 * 8));
  for (IgnoredLabel& label : training.ignored_labels) {
    label.source = from.text("field of labels");
    require_indices(training, label.source, from);
    label.value = from.number("ignored label", INT32_MIN, INT32_MAX);
  }
}

std::vector<std::byte> training_bytes(const TrainingProgram& training, const ValueSizes& values) {
  program::ByteWriter to;
  to.text(training.name);
  to.text(training.recipe);
  to.number(training.epochs);
  write_options(training.options, to);
  to.number(training.part);
  write_interface(training.interface, to);
  write_finishes(training.finishes, to);
  write_checks(training, to);
  write_plan(training.plan, to);
  write_value_sizes(values, to);
  return to.bytes();
}

// Whether a batch of every field has a size that memory can be counted in.
void check_batch(const TrainingProgram& training, const program::ByteReader& from) {
  for (const ir::ValueData& value : training.interface.values) {
    if (value.role != ir::Role::input && value.role != ir::Role::label) continue;
    const Shape batch = ir::with_batch(value.type.shape, training.options.batch);
    if (ir::bounded_elements(batch) <= ir::kMostElements) continue;
    from.fail("shape of a value", fmt::format("of the field \"{}\" is too large for a batch of {}",
                                              value.name, training.options.batch));
  }
}

void read_head(TrainingProgram& training, GivenValues::InFile& values, program::ByteReader& from) {
  training.name = from.text("name of the model");
  training.recipe = from.text("recipe");
  training.epochs = from.number("epochs", 0, kMostCount);
  training.options = read_options(from);
  training.part = from.number("samples of a micro-batch", 1, training.options.batch);
  training.interface = read_interface(from);
  check_batch(training, from);
  read_finishes(training, from);
  read_checks(training, from);
  training.plan = read_plan(from);
  values.bytes = read_value_sizes(from);
  if (!from.at_end()) from.fail("the settings", "are followed by something else");
}

// A zeroed block as shared bytes.
std::shared_ptr<std::byte> block_bytes(int64_t bytes) {
  auto block = std::make_shared<exec::Block>(plan::aligned(bytes));
  return {block, block->data()};
}

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
  throw Error(file, what + "; the file is damaged or was put together wrongly: compile it again");
}

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
      refuse(file, fmt::format("the program for {} samples reads \"{}\", which is no such field of "
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
    refuse(file, "a loss is no number of 32 bits");
  }
  const auto check = [&](const auto& named, const auto& of_model) {
    for (const auto& [name, id] : named) {
      const auto known = std::find_if(of_model.begin(), of_model.end(),
                                      [&name = name](const auto& it) { return it.first == name; });
      const ir::TensorType& type = program.tensor(id).type;
      if (known == of_model.end() || model.type(known->second).dtype != type.dtype ||
          ir::with_batch(model.type(known->second).shape, key.second) != type.shape) {
        refuse(file,
               fmt::format("the program for {} samples computes \"{}\", which is no such result "
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
    refuse(file, "two programs keep other parameters in the swap file");
  }
  if (program.slot_bytes.empty()) return;
  if (program.slot_bytes.size() < program.in_file.size()) {
    refuse(file, "the swap file has too few slots");
  }
  size_t slot = 0;
  for (const std::string& name : program.in_file) {  // in the order of its slots
    for (const program::Stored& stored : program.stored) {
      if (stored.name == name &&
          size_bytes(stored.type.dtype, stored.type.shape) > program.slot_bytes[slot]) {
        refuse(file, fmt::format("the slot of {} in the swap file is too small", name));
      }
    }
    ++slot;
  }
  const exec::SwapOptions least = Runner::swap_options(kSwapPage);
  if (program.staging_bytes < exec::SwapFile::staging_bytes(least)) {
    refuse(file, "the swap file has too little staging");
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
    refuse(file, fmt::format("its programs need {} bytes, but its plan says {}", needed,
                             plan.planned_peak_bytes));
  }
  const int64_t all =
      plan.planned_peak_bytes + pipeline_bytes(training.interface, training.options);
  if (training.options.memory_budget > 0 && all > training.options.memory_budget) {
    refuse(file, fmt::format("its plan needs {} bytes with the reading of samples, but its memory "
                             "budget is {}",
                             all, training.options.memory_budget));
  }
}

// An average is copied from its parameter, so both have one type.
void check_averages(const TrainingProgram& training,
                    const std::map<std::string, ir::TensorType>& types, const std::string& file) {
  for (const auto& [key, program] : training.programs) {
    for (const program::Stored& stored : program.stored) {
      if (stored.average_of->empty()) continue;
      const auto parameter = types.find(stored.average_of);
      if (parameter != types.end() && parameter->second == stored.type) continue;
      refuse(file, fmt::format("{} is the average of \"{}\", which is no parameter of its type",
                               stored.name, stored.average_of));
    }
  }
}

void check_programs(const TrainingProgram& training, const std::string& file) {
  const bool accumulates =
      training.options.accumulate > 1 || training.part < training.options.batch;
  const ProgramKind updating = accumulates ? ProgramKind::finish : ProgramKind::update;
  const auto main = training.programs.find({static_cast<int>(updating), training.part});
  if (main == training.programs.end()) refuse(file, "the program that updates is missing");
  if (!main->second.in_file.empty() && main->second.slot_bytes.empty()) {
    refuse(file, "parameters lie in a swap file that has no slots");
  }
  std::map<std::string, ir::TensorType> types;
  for (const auto& [key, program] : training.programs) {
    if (program.threads != training.options.threads) {
      refuse(file, "two programs are for other numbers of threads");
    }
    check_fields(training, key, program, file);
    check_results(training, key, program, file);
    if (key.first != static_cast<int>(ProgramKind::predict) &&
        (!program.loss || program.metrics.size() != training.interface.metrics.size())) {
      refuse(file, "a program computes no loss, or not all metrics");
    }
    check_swap(program, main->second, file);
    for (const program::Stored& stored : program.stored) {
      const auto [known, is_new] = types.emplace(*stored.name, stored.type);
      if (known->second != stored.type) {
        refuse(file, fmt::format("{} has two types", stored.name));
      }
    }
  }
  check_memory(training, file);
  check_averages(training, types, file);
}

}  // namespace

ir::Graph interface_of(const ir::Graph& model) {
  ir::Graph made;
  std::map<int, int> numbers;
  const auto add = [&](int id) {
    const auto [known, is_new] = numbers.emplace(id, static_cast<int>(made.values.size()));
    if (!is_new) return known->second;
    const ir::ValueData& data = model.data(id);
    ir::ValueData value;
    value.name = data.name;
    value.type = data.type;
    value.role = data.role;
    made.values.push_back(std::move(value));
    return known->second;
  };
  for (size_t id = 0; id < model.values.size(); ++id) {
    const ir::ValueData& data = model.values[id];
    if (data.producer < 0 && data.role != ir::Role::constant) add(static_cast<int>(id));
  }
  if (model.loss) made.loss = add(*model.loss);
  for (const auto& [name, id] : model.outputs) made.outputs.emplace_back(name, add(id));
  for (const auto& [name, id] : model.metrics) made.metrics.emplace_back(name, add(id));
  return made;
}

void write_training(const TrainingProgram& training, const std::string& path) {
  ValueSection values = value_section(training);
  std::vector<program::Section> sections;
  sections.push_back({program::SectionKind::training, training_bytes(training, values.bytes)});
  sections.push_back({program::SectionKind::model, model_bytes(training.model)});
  program::ConstantPool pool;
  std::vector<program::Section> programs = program_sections(training, pool);
  program::ByteWriter constants;
  pool.write(constants);
  sections.push_back({program::SectionKind::constants, constants.bytes()});
  sections.push_back({program::SectionKind::values, std::move(values.section)});
  for (program::Section& section : programs) sections.push_back(std::move(section));
  program::write_sections(path, sections);
}

namespace {

// The first sections, in their order; programs follow.
constexpr program::SectionKind kFirstSections[] = {
    program::SectionKind::training, program::SectionKind::model, program::SectionKind::constants,
    program::SectionKind::values};

template <class Read>
auto read_section(program::Sections& file, const program::Sections::Entry& entry,
                  const Read& read) {
  program::ByteReader from = file.reader(entry);
  return read(from);
}

TrainingProgram read(program::Sections file) {
  const std::vector<program::Sections::Entry>& entries = file.entries();
  const auto is_kind = [](const auto& entry, auto kind) { return entry.kind == kind; };
  if (entries.size() < std::size(kFirstSections) ||
      !std::equal(std::begin(kFirstSections), std::end(kFirstSections), entries.begin(),
                  [&](auto kind, const auto& entry) { return is_kind(entry, kind); })) {
    refuse(file.name(), "its first sections are not settings, model, constants and values");
  }
  TrainingProgram training;
  GivenValues::InFile values;
  read_section(file, entries[0], [&](auto& from) { read_head(training, values, from); });
  const std::vector<program::PooledConstant> pool = read_section(
      file, entries[2], [](auto& from) { return program::read_constants(from, block_bytes); });
  training.model =
      read_section(file, entries[1], [&](auto& from) { return read_model_parts(from, pool); });
  file.scan(entries[3]);
  auto table_bytes = static_cast<int64_t>(training.model.graph.size());
  for (size_t i = std::size(kFirstSections); i < entries.size(); ++i) {
    table_bytes += entries[i].bytes;
    if (entries[i].kind != program::SectionKind::program) {
      refuse(file.name(), "a section after the first is no program");
    }
    read_section(file, entries[i], [&](auto& from) {
      const auto kind = static_cast<int>(from.number("kind of a program", 0, kLastKind));
      const int64_t batch = from.number("samples of a program", 1, training.options.batch);
      const bool is_new =
          training.programs.emplace(ProgramKey{kind, batch}, program::read_program(from, pool))
              .second;
      if (!is_new) refuse(file.name(), "a program stands there twice");
    });
  }
  training.tables_bytes = held_beside_published(table_bytes);
  check_programs(training, file.name());
  check_values(training, values.bytes, entries[3].bytes, file.name());
  values.path = file.name();
  values.offset = entries[3].offset;
  values.checksum = entries[3].checksum;
  training.given = GivenValues(std::move(values));
  return training;
}

}  // namespace

TrainingProgram read_training(const std::string& path) {
  return read(program::Sections::open(path));
}

TrainingProgram parse_training(std::string name, std::string bytes) {
  return read(program::Sections::parse(std::move(name), std::move(bytes)));
}

}  // namespace thimble::train

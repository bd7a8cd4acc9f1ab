#include "train/training_program.h"

#include <thimble/error.h>

#include <algorithm>
#include <iterator>

#include "exec/memory.h"
#include "program/sections.h"
#include "program/serialize.h"
#include "train/program_model.h"
#include "train/program_tables.h"
#include "train/state.h"
#include "train/training_check.h"
#include "train/training_settings.h"

namespace thimble::train {

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
  sections.push_back({program::SectionKind::training, settings_bytes(training, values.bytes)});
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

constexpr auto kLastKind = static_cast<int64_t>(ProgramKind::predict);

// A zeroed block as shared bytes.
std::shared_ptr<std::byte> block_bytes(int64_t bytes) {
  auto block = std::make_shared<exec::Block>(plan::aligned(bytes));
  return {block, block->data()};
}

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
    refuse_file(file.name(), "its first sections are not settings, model, constants and values");
  }
  TrainingProgram training;
  GivenValues::InFile values;
  read_section(file, entries[0], [&](auto& from) { values.bytes = read_settings(training, from); });
  const std::vector<program::PooledConstant> pool = read_section(
      file, entries[2], [](auto& from) { return program::read_constants(from, block_bytes); });
  training.model =
      read_section(file, entries[1], [&](auto& from) { return read_model_parts(from, pool); });
  file.scan(entries[3]);
  auto table_bytes = static_cast<int64_t>(training.model.graph.size());
  for (size_t i = std::size(kFirstSections); i < entries.size(); ++i) {
    table_bytes += entries[i].bytes;
    if (entries[i].kind != program::SectionKind::program) {
      refuse_file(file.name(), "a section after the first is no program");
    }
    read_section(file, entries[i], [&](auto& from) {
      const auto kind = static_cast<int>(from.number("kind of a program", 0, kLastKind));
      const int64_t batch = from.number("samples of a program", 1, training.options.batch);
      const bool is_new =
          training.programs.emplace(ProgramKey{kind, batch}, program::read_program(from, pool))
              .second;
      if (!is_new) refuse_file(file.name(), "a program stands there twice");
    });
  }
  training.tables_bytes = held_tables_bytes(table_bytes) + folded_constant_bytes(training);
  check_training(training, file.name());
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

#include "train/program_tables.h"

#include <set>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "program/serialize.h"

namespace thimble::train {
namespace {

// Of any training: the trainer itself, its threads, the readers of samples.
constexpr int64_t kHeldByAny = int64_t{96} << 10;
// For 4 bytes of tables in the file a trainer holds up to 14, while it writes a checkpoint.
// Measured with steps of 60 to 2,400 kernels.
constexpr int64_t kHeldPer4Bytes = 14;

program::Section section(const ProgramKey& key, const program::Program& program,
                         program::ConstantPool& pool) {
  program::ByteWriter to;
  to.number(key.kind);
  to.number(key.batch);
  program::write_program(program, pool, to);
  return {program::SectionKind::program, to.bytes()};
}

}  // namespace

std::vector<program::Section> program_sections(const TrainingProgram& training,
                                               program::ConstantPool& pool) {
  std::vector<program::Section> programs;
  for (const auto& [key, program] : training.programs) {
    programs.push_back(section(key, program, pool));
  }
  return programs;
}

int64_t program_bytes(const program::Program& program) {
  program::ConstantPool pool;
  return static_cast<int64_t>(section({}, program, pool).bytes.size());
}

int64_t held_tables_bytes(int64_t file_bytes) {
  return kHeldByAny + file_bytes / 4 * kHeldPer4Bytes;
}

int64_t held_tables_bytes(const TrainingProgram& training) {
  program::ConstantPool pool;
  auto bytes = static_cast<int64_t>(training.model.graph.size());
  for (const program::Section& section : program_sections(training, pool)) {
    bytes += static_cast<int64_t>(section.bytes.size());
  }
  return held_tables_bytes(bytes) + folded_constant_bytes(training);
}

int64_t folded_constant_bytes(const TrainingProgram& training) {
  std::vector<const program::Program*> programs;
  for (const auto& [key, program] : training.programs) programs.push_back(&program);
  return folded_constant_bytes(training.model, programs);
}

int64_t folded_constant_bytes(const io::ModelParts& model,
                              const std::vector<const program::Program*>& programs) {
  // Files are hostile: each of their constants is looked at once, however many tensors name it.
  const auto text_of = [](const void* contents, size_t size) {
    return std::string_view(static_cast<const char*>(contents), size);
  };
  std::set<std::pair<const void*, int64_t>> known;
  std::unordered_set<std::string_view> held;
  for (const program::Program* const program : programs) {
    for (const program::Tensor& tensor : program->tensors) {
      if (tensor.place != program::Place::constant) continue;
      const void* const contents = program->constants[static_cast<size_t>(tensor.at)].get();
      if (!known.emplace(contents, tensor.bytes()).second) continue;
      held.insert(text_of(contents, static_cast<size_t>(tensor.bytes())));
    }
  }
  int64_t bytes = 0;
  for (const auto& [name, values] : model.constants) {
    const std::span<const std::byte> wanted = values.bytes();
    if (held.count(text_of(wanted.data(), wanted.size())) == 0) {
      bytes += static_cast<int64_t>(wanted.size());
    }
  }
  return bytes;
}

}  // namespace thimble::train

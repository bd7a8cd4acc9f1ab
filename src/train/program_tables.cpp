#include "train/program_tables.h"

#include <algorithm>

#include "program/serialize.h"

namespace thimble::train {
namespace {

// The memory published for programs holds tables of so many bytes. For 4 bytes of tables in the
// file a trainer holds up to 13, measured with steps of 60 to 2,400 kernels.
constexpr int64_t kPublishedTables = int64_t{4} << 20;
constexpr int64_t kHeldPer4Bytes = 13;

}  // namespace

std::vector<program::Section> program_sections(const TrainingProgram& training,
                                               program::ConstantPool& pool) {
  std::vector<program::Section> programs;
  for (const auto& [key, program] : training.programs) {
    program::ByteWriter to;
    to.number(key.first);
    to.number(key.second);
    program::write_program(program, pool, to);
    programs.push_back({program::SectionKind::program, to.bytes()});
  }
  return programs;
}

int64_t held_beside_published(int64_t table_bytes) {
  return std::max<int64_t>(table_bytes / 4 * kHeldPer4Bytes - kPublishedTables, 0);
}

int64_t long_program_bytes(const TrainingProgram& training) {
  program::ConstantPool pool;
  auto bytes = static_cast<int64_t>(training.model.graph.size());
  for (const program::Section& section : program_sections(training, pool)) {
    bytes += static_cast<int64_t>(section.bytes.size());
  }
  return held_beside_published(bytes);
}

}  // namespace thimble::train

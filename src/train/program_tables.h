// The tables of a training's programs, in the file and in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "program/sections.h"
#include "program/serialize.h"
#include "train/training_program.h"

namespace thimble::train {

// The sections of the programs. Adds their constants to the pool.
[[nodiscard]] std::vector<program::Section> program_sections(const TrainingProgram& training,
                                                             program::ConstantPool& pool);

// TrainingProgram::tables_bytes of programs whose tables, with the text of the graph, take so many
// bytes in the file.
[[nodiscard]] int64_t held_beside_published(int64_t table_bytes);
// The same of programs that were compiled here.
[[nodiscard]] int64_t long_program_bytes(const TrainingProgram& training);

}  // namespace thimble::train

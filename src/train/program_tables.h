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

// Bytes of a program's section in the file.
[[nodiscard]] int64_t program_bytes(const program::Program& program);

// Bytes that a trainer allocates beside the plan, if tables and the text of the graph take so many
// in the file; without constants of the model.
[[nodiscard]] int64_t held_tables_bytes(int64_t file_bytes);
// Bytes of the model's constants that no program reads as they are: folded ones, which a trainer
// holds for the files it writes.
[[nodiscard]] int64_t folded_constant_bytes(const io::ModelParts& model,
                                            const std::vector<const program::Program*>& programs);
[[nodiscard]] int64_t folded_constant_bytes(const TrainingProgram& training);
// TrainingProgram::tables_bytes of programs: both together.
[[nodiscard]] int64_t held_tables_bytes(const TrainingProgram& training);

}  // namespace thimble::train

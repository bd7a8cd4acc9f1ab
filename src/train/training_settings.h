// The first section of a program file: the settings of the training, and what its data must look
// like.
#pragma once

#include <cstddef>
#include <vector>

#include "program/bytes.h"
#include "train/program_model.h"
#include "train/training_program.h"

namespace thimble::train {

[[nodiscard]] std::vector<std::byte> settings_bytes(const TrainingProgram& training,
                                                    const ValueSizes& values);
// Sets all that stands in the section; the bytes of the initial values, by name. Throws Error
// naming file, offset and field.
[[nodiscard]] ValueSizes read_settings(TrainingProgram& training, program::ByteReader& from);

}  // namespace thimble::train

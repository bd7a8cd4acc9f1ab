// Settings and plans of a training as bytes of a program file.
#pragma once

#include <thimble/plan.h>
#include <thimble/trainer_options.h>

#include "program/bytes.h"

namespace thimble::train {

// All but the folder of the swap file, which is the device's. Throws Error where an optimizer or a
// schedule cannot be said in words.
void write_options(const TrainerOptions& options, program::ByteWriter& to);
[[nodiscard]] TrainerOptions read_options(program::ByteReader& from);

// Totals and strategies.
void write_plan(const Plan& plan, program::ByteWriter& to);
[[nodiscard]] Plan read_plan(program::ByteReader& from);

}  // namespace thimble::train

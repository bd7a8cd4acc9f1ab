// What a program file holds of the model beside its programs: the graph's text and initial values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/model/model.h"
#include "program/bytes.h"
#include "program/serialize.h"
#include "train/training_program.h"

namespace thimble::train {

[[nodiscard]] std::vector<std::byte> model_bytes(const io::ModelParts& model);
// pool: constants of programs, with which those of the model that are equal share memory. Throws
// Error naming file, offset and field. The text of the graph is not looked into.
[[nodiscard]] io::ModelParts read_model_parts(program::ByteReader& from,
                                              const std::vector<program::PooledConstant>& pool);

// Bytes of each value, by name.
using ValueSizes = std::vector<std::pair<std::string, int64_t>>;

struct ValueSection {
  ValueSizes bytes;
  std::vector<std::byte> section;
};
// The initial values that the programs of a training have a place for.
[[nodiscard]] ValueSection value_section(const TrainingProgram& training);

void write_value_sizes(const ValueSizes& values, program::ByteWriter& to);
[[nodiscard]] ValueSizes read_value_sizes(program::ByteReader& from);
// Throws Error where one is of no parameter or state of the programs, or has another size, or all
// of them do not fill the section.
void check_values(const TrainingProgram& training, const ValueSizes& values, int64_t section_bytes,
                  const std::string& file);

}  // namespace thimble::train

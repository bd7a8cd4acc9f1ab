// Weights in safetensors files, checked before anything is changed.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "io/safetensors/safetensors.h"
#include "ir/op_context.h"

namespace thimble::train {

// The name in the file of a parameter or running statistic: of averaged ones that of the average.
[[nodiscard]] std::string name_in_file(const io::Safetensors& file, const std::string& name);

// Throws Error where the tensor is missing, of another type or shape, damaged or not finite.
void check_tensor(const io::Safetensors& file, const ir::TensorType& type, const std::string& name);

// Throws Error where one of the tensors that were not asked for is damaged: a file that is in one
// place may be in others. checked: the names of those that were.
void check_others(const io::Safetensors& file, const std::set<std::string>& checked);

// The elements of a checked tensor as they lie in memory.
[[nodiscard]] std::vector<std::byte> read_tensor(const io::Safetensors& file,
                                                 const ir::TensorType& type,
                                                 const std::string& name);

}  // namespace thimble::train

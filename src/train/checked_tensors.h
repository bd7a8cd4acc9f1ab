// Weights in safetensors files, checked before anything is changed.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "io/safetensors/safetensors.h"
#include "ir/op_context.h"

namespace thimble::train {

// Before the name of a tensor, the key of a file's metadata that says whose average it is.
inline constexpr const char* kAverageKey = "average_of.";

// The key of the decay of averages in the metadata of checkpoints.
inline constexpr const char* kAverageDecayKey = "ema_decay";

// The averages that a file holds: names of tensors by those of their parameters. Throws Error where
// the metadata name a tensor that is not there.
using Averages = std::map<std::string, std::string>;
[[nodiscard]] Averages averages_in(const io::Safetensors& file);

// The tensor that holds a parameter or running statistic: of averaged ones the average.
[[nodiscard]] const std::string& name_in_file(const Averages& averages, const std::string& name);

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

// Settings of a training in words: what its checkpoints and analyses keep, to compare.
#pragma once

#include <thimble/trainer_options.h>

#include <map>
#include <string>

namespace thimble::train {

inline constexpr const char* kScalingKey = "quantization_aware_scaling";
inline constexpr const char* kRoundingKey = "integer_rounding";
inline constexpr const char* kErrorTypeKey = "error_type";

// Those on which results depend, by their keys in files: all but the seed, the scheme and how a
// batch is split. Equal texts stand for equal settings.
[[nodiscard]] std::map<std::string, std::string> setting_texts(const TrainerOptions& options,
                                                               const Schedule& schedule);

// The name that users know.
[[nodiscard]] std::string name_of_setting(const std::string& key);

// Its text as users write it.
[[nodiscard]] std::string readable_setting(const std::string& key, const std::string& text);

}  // namespace thimble::train

// The data of the recipes that learn handwritten digits.
#pragma once

#include <thimble/data.h>

#include <string>

namespace thimble::models {

inline constexpr const char* kDigitsBuiltInName = "built-in digits";
inline constexpr const char* kDigitsRealName = "MNIST";
inline constexpr const char* kDigitsDoc =
    "folder with MNIST's four IDX files, plain or .gz, or with a folder mnist that has them";

// MNIST in that folder, or the built-in digits, in fixed numbers, if the path is empty. Fields as
// of data::mnist().
[[nodiscard]] data::Dataset digits_data(const std::string& path, data::Split split);

}  // namespace thimble::models

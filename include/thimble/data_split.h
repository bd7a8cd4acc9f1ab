// Dividing a data set by its classes.
#pragma once

#include <thimble/data.h>

#include <cstdint>
#include <string>
#include <utility>

namespace thimble::data {

// {training set, validation set} as Dataset::split, but of every class validation_fraction (inside
// 0..1) of its samples, rounded, at least one in each part, drawn by seed. label: the field of the
// classes, one whole number a sample. Reads every sample once; images are decoded for it. Throws
// Error where there is no such field, or a class has one sample alone.
[[nodiscard]] std::pair<Dataset, Dataset> stratified_split(const Dataset& dataset,
                                                           const std::string& label,
                                                           double validation_fraction,
                                                           uint64_t seed);

}  // namespace thimble::data

// Data sets from files for a given model: which field is read from what follows from the model's
// inputs and labels.
#pragma once

#include <thimble/data.h>
#include <thimble/graph.h>

#include <string>
#include <utility>
#include <vector>

namespace thimble::data {

// What a model is fed: a field for each of its inputs and, with_labels, its labels, in their order.
[[nodiscard]] std::vector<Field> fields_of(const Graph& graph, bool with_labels = true);

// One .npy file a field; the first dimension counts the samples. Integers and floating-point
// numbers of any size are converted to the field's type: u8 that feeds a floating-point input is
// divided by 255, floating-point numbers feed no integer field, and integers must fit. Dimensions
// of 1 are no difference of shape, and [N, elements] is taken as the field in row-major order.
// Throws Error naming file and field where they do not fit, or the files have different numbers of
// samples.
[[nodiscard]] Dataset open_arrays(const std::vector<std::pair<Field, std::string>>& files);

}  // namespace thimble::data

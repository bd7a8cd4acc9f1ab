// From a TensorFlow Lite or circle file to a graph.
#pragma once

#include <thimble/graph.h>

#include <array>
#include <map>
#include <string>

#include "import/tflite/file.h"

namespace thimble::tflite {

struct Network {
  Graph graph;
  std::map<std::string, int> tensor_of;  // by parameter: the file's tensor that it was read from
  // Of parameters in another order than their tensor: one is [a, b, c] where the tensor is [c, b,
  // a].
  std::map<std::string, std::array<int64_t, 3>> reversed;
};
// Throws Error naming the file, and the operator at fault. results: every operator's first result
// is an output, too, named by the operator's number.
[[nodiscard]] Network read_network(const File& file, bool results = false);

}  // namespace thimble::tflite

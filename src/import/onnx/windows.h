// The windows of convolutions and pooling.
#pragma once

#include <cstdint>
#include <vector>

#include "import/onnx/node.h"

namespace thimble::importer::onnx {

// A number for each spatial axis.
struct Window {
  std::vector<int64_t> kernel;
  std::vector<int64_t> stride;
  std::vector<int64_t> dilation;
  std::vector<int64_t> before;
  std::vector<int64_t> after;
};

// From the attributes of a node whose input 0 has the spatial dimensions `sizes`. kernel: from the
// weights; empty: from the attribute kernel_shape.
[[nodiscard]] Window window_of(const Node& node, const std::vector<int64_t>& sizes,
                               std::vector<int64_t> kernel);

// The padding of a window of one or two axes.
[[nodiscard]] Padding padding_of(const Window& window);

// An attribute with a number an axis; all are `otherwise` without it.
[[nodiscard]] std::vector<int64_t> per_axis(const Node& node, const char* name, size_t axes,
                                            int64_t otherwise);

// The spatial dimensions of an image [N, C, ...] in ONNX order.
[[nodiscard]] std::vector<int64_t> spatial(const Shape& image);

}  // namespace thimble::importer::onnx

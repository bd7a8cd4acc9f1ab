// Dense layers.
#pragma once

#include "import/onnx/node.h"

namespace thimble::importer::onnx {

// The weight of a dense layer, [units, features], from a matrix [features, units] (or its
// transpose) that multiplies x. Where x is a flattened image, the features follow its order.
[[nodiscard]] Value dense_weight(Node& node, const Item& x, Item matrix, bool is_transposed);

// Input i of a dense layer: a flattened image as it is stored.
[[nodiscard]] Value features_of(Node& node, size_t i);

}  // namespace thimble::importer::onnx

// The backward part of a training step as a circle file.
#pragma once

#include <map>
#include <string>

#include "ir/graph.h"

namespace thimble::tflite {

// The nodes of a step that neither loss nor metrics need: gradients and updates, each a custom
// operator named after its op, "Conv2DWeightGrad", with its attributes as a FlexBuffer map. What
// they read of the forward part, parameters, labels and scalars are inputs. The metadata
// "ONE_train_inform" is a count and so many pairs: a tensor of this file, the tensor of the forward
// model that it is. tensors: of that model, by the name of their values. Outputs are the updated
// parameters and states. Throws Error where a value is of a type that such files do not hold.
[[nodiscard]] std::string gradient_file(const ir::Graph& step,
                                        const std::map<std::string, int>& tensors);

}  // namespace thimble::tflite

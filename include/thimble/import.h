// Reading models of other programs.
#pragma once

#include <thimble/graph.h>

#include <string>

namespace thimble {

// The graph of a quantized network in JSON, with its weights: NAME.json describes the nodes and
// NAME.safetensors beside it holds the tensors. The page on quantization describes the format. The
// graph has the input "input" and the output "logits". Throws Error naming file and field where
// either is damaged, sizes or scales do not fit, or a node is of an unknown kind.
[[nodiscard]] Graph import_quantized_json(const std::string& path);

}  // namespace thimble

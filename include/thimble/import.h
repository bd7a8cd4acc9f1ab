// Reading models of other programs.
#pragma once

#include <thimble/graph.h>

#include <string>

namespace thimble {

// The graph of a model file of another program, with its weights: of any format below, which the
// file's contents tell. Throws Error as these do, and where the format is none of them.
[[nodiscard]] Graph import_model(const std::string& path);

// The graph of a quantized network in JSON, with its weights: NAME.json describes the nodes and
// NAME.safetensors beside it holds the tensors. The page on quantization describes the format. The
// graph has the input "input" and the output "logits". Throws Error naming file and field where
// either is damaged, sizes or scales do not fit, or a node is of an unknown kind.
[[nodiscard]] Graph import_quantized_json(const std::string& path);

}  // namespace thimble

// Reading models of other programs.
#pragma once

#include <thimble/graph.h>

#include <string>

namespace thimble {

// The graph of a model file of another program, with its weights: of any format below, which the
// file's contents tell. Throws Error as these do, and where the format is none of them.
[[nodiscard]] Graph import_model(const std::string& path);

// The graph of a TensorFlow Lite or circle file, float or fully int8, with its weights; the page on
// models in and out lists the operators. Dimension 0 of inputs is the batch and becomes open. int8
// networks have fixed-point requantization: the bits of TensorFlow Lite's reference kernels, of
// dense layers those of TensorFlow Lite Micro. Inputs and outputs keep the names of their tensors;
// layers are conv2d_1, quantized_dense_2 ... Throws Error naming file and operator where the file
// is damaged, or thimble does not read something in it.
[[nodiscard]] Graph import_tflite(const std::string& path);

// The graph of a quantized network in JSON, with its weights: NAME.json describes the nodes and
// NAME.safetensors beside it holds the tensors. The page on quantization describes the format. The
// graph has the input "input" and the output "logits". Throws Error naming file and field where
// either is damaged, sizes or scales do not fit, or a node is of an unknown kind.
[[nodiscard]] Graph import_quantized_json(const std::string& path);

}  // namespace thimble

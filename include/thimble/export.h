// Writing models for other programs.
#pragma once

#include <thimble/graph.h>

#include <string>

namespace thimble {

// Writes what the graph's outputs compute of its inputs, with the graph's weights, as TensorFlow
// Lite, or as circle where the path ends in ".circle". Inputs and outputs keep their names;
// dimension 0 is an open batch. Dropout vanishes, and batch norms use their running statistics.
// int8 networks of fixed-point requantization have equal bits under TensorFlow Lite's reference
// kernels, dense layers excepted, which are those of TensorFlow Lite Micro; of floating
// requantization they may differ by a step. The page on models in and out lists the ops. The file
// appears whole or not at all. Throws Error naming the op that such files have no operator for, the
// parameter without values (load_model, load_weights), or a path that cannot be written.
void export_tflite(const Graph& graph, const std::string& path);

// The same as an ONNX file of opset 23, of int8 networks 20. Inputs and outputs keep their names
// and shapes, images channels last; between them images are channels first as ONNX's operators want
// them, without transposes around each. Parameters become initializers of their names, batch norms
// stay BatchNormalization, recurrent layers and attention are one node each. Layers on int8 stand
// between QuantizeLinear and DequantizeLinear; results of softmax, and those of each layer with
// fixed-point requantization, may differ by a step under onnxruntime. The page on ONNX says more.
// The file appears whole or not at all. Throws Error as export_tflite.
void export_onnx(const Graph& graph, const std::string& path);

}  // namespace thimble

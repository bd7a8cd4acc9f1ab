// Reading models of other programs.
#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <map>
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

struct HuggingFaceOptions {
  int64_t tokens = 0;  // of a sample; 0: the positions that the model has, at most 512
};

// The graph of a Hugging Face model, with its weights: of a folder with config.json and
// model.safetensors, or model.safetensors.index.json and the files that it names. Of the model
// types gpt2, llama, mistral, qwen2, qwen3, bert and vit the architectures that the page on
// transformers lists. Inputs and outputs have the names of that library: "input_ids" i32 [N, T],
// "attention_mask" u8 [N, T] and "token_type_ids" i32 [N, T] of BERT, "pixel_values" [N, H, W, C];
// "logits", "last_hidden_state", "pooler_output". Parameters have the names and shapes of their
// tensors, f32 whatever those are; but convolutions are [K, R, S, C]. Dropout is left out. Throws
// Error naming file and field or tensor where config.json asks for what thimble has not, or a file
// is damaged or lacks something.
[[nodiscard]] Graph import_hugging_face(const std::string& path,
                                        const HuggingFaceOptions& options = {});

struct OnnxOptions {
  // Sizes of dimensions that the model leaves open, by their names. The batch may stay open.
  std::map<std::string, int64_t> dims;
  // Images stay [N, C, H, W] at inputs and outputs, with a transpose behind each.
  bool keep_layout = false;
};

// The graph of an ONNX model (opsets 7 to 27), with its weights; data in files beside it is read,
// too. The first dimension of every input, or the only one left open, is the batch. Images are
// [N, H, W, C] at inputs and outputs, initializers are parameters of their names, their axes in
// thimble's order, and numbers that depend on shapes alone are computed. Batch normalization keeps
// its running statistics. Throws Error naming the file and the node at fault where the file is
// damaged, or an operator or one of its settings is not offered; docs/onnx.md lists what is.
[[nodiscard]] Graph import_onnx(const std::string& path, const OnnxOptions& options = {});

}  // namespace thimble

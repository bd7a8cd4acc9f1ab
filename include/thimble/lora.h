// LoRA: low-rank adapters beside frozen weights (Hu et al., "LoRA: low-rank adaptation of large
// language models", 2021), in memory and in the files of the PEFT library.
#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <string>
#include <vector>

namespace thimble {

struct LoraOptions {
  int64_t rank = 8;
  double alpha = 16.0;  // what an adapter adds is multiplied by alpha / rank
  // Which layers get an adapter: their names, or the ends of these behind a dot ("q_proj",
  // "self_attn.*"; * stands for any characters). The name of a layer is that of its weight without
  // ".weight".
  std::vector<std::string> targets;
};

// The model with its matrices of weights stored in a narrow type, bf16, f16, i8 or i4, which
// frozen_dense reads: they are frozen. Rounded to nearest; i8 and i4 have a scale for every 64
// numbers of a row (where 64 divides it, else for the row), the largest magnitude by 127 or 7.
// Tables of embeddings, and what is tied to them, become bf16 where the type is an integer.
// Parameters without values, such as a new head, stay as they are, and so do weights that anything
// else reads. They cost a training no memory: bf16, f16 and i8 are mapped from a model file, all
// others lie in a file without a name in TrainerOptions::swap_dir. Throws Error for another type,
// and where nothing could be stored so.
[[nodiscard]] Graph store_weights(const Graph& graph, DType dtype);

// The model with an adapter beside each product of rows with a weight of a target: y = x W + b
// becomes y + alpha / rank * (x A^T) B^T. The parameters <layer>.lora_A.weight [rank, in], first
// U(-1/sqrt(in), 1/sqrt(in)), and <layer>.lora_B.weight [out, rank], first 0, are trained; all
// others are frozen and keep names and values. So the model computes at first what it did before.
// Throws Error where a target names no such layer or the model has adapters.
[[nodiscard]] Graph add_lora(const Graph& graph, const LoraOptions& options);

// The model without adapters: what they add is in the weights, which are computed in f32 and
// rounded to their type. Parameters stay frozen as they are. Throws Error where the model has no
// adapter, or none with values.
[[nodiscard]] Graph merge_lora(const Graph& graph);

// Writes the adapters of a model as PEFT does: adapter_model.safetensors and adapter_config.json in
// a folder, which is made where there is none. Throws Error as merge_lora, and where a file cannot
// be written.
void save_lora(const Graph& graph, const std::string& folder);

// add_lora with the settings and values of such a folder. Throws Error naming the file where it is
// damaged, asks for what thimble has not, or does not fit the model.
[[nodiscard]] Graph load_lora(const Graph& graph, const std::string& folder);

}  // namespace thimble

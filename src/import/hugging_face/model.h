// What builds the graph of a Hugging Face model.
#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "import/hugging_face/config.h"
#include "import/hugging_face/weights.h"

namespace thimble::importer::hugging_face {

inline constexpr const char* kConfig = "config.json";
inline constexpr size_t kMostConfigBytes = size_t{1} << 24;

struct Model {
  const Config& config;
  Weights& weights;
  int64_t length = 0;  // tokens of a sample; 0: as many as usual

  // The number of layers, of which each has this tensor: "encoder.layer.{}.output.bias". Throws
  // Error where one is not in the file.
  [[nodiscard]] int64_t layers(Config::Names names, const std::string& before,
                               const std::string& behind) const;
  // Tokens of a sample, of at most so many positions. Throws Error where more were wanted.
  [[nodiscard]] int64_t tokens(int64_t positions) const;
};

// Without a wish: the tokens of a sample, where the model takes more.
inline constexpr int64_t kUsualTokens = 512;

// A function of one tensor by its name in config.json ("gelu_new").
using ActivationFn = std::function<Value(Value)>;
[[nodiscard]] ActivationFn activation(const Config& config, Config::Names names,
                                      const std::string& otherwise);

// Builds the graph; parameters have the names of their tensors and no values. Throws Error.
struct Family {
  const char* model_type;
  void (*build)(Graph& graph, const Model& model);
  // Ends of the names of tensors that belong to no parameter.
  std::vector<std::string> ignored;
};
[[nodiscard]] const Family& gpt2_family();
[[nodiscard]] const Family& llama_family();
[[nodiscard]] const Family& bert_family();
[[nodiscard]] const Family& vit_family();

// The graph of a model with its weights.
[[nodiscard]] Graph graph_of(const Config& config, Weights weights, int64_t length);

}  // namespace thimble::importer::hugging_face

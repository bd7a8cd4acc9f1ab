#include <fmt/format.h>
#include <thimble/import.h>
#include <thimble/ops.h>

#include <algorithm>
#include <filesystem>

#include "import/hugging_face/model.h"
#include "io/atomic_file.h"
#include "ir/graph.h"

namespace thimble::importer::hugging_face {
namespace {

struct Type {
  const char* name;  // the config's model_type
  const Family& (*family)();
};
constexpr Type kTypes[] = {{"gpt2", gpt2_family},     {"llama", llama_family},
                           {"mistral", llama_family}, {"qwen2", llama_family},
                           {"qwen3", llama_family},   {"bert", bert_family},
                           {"vit", vit_family}};

const Family& family_of(const Config& config) {
  const std::string type = config.text({"model_type"});
  std::string known;
  for (const Type& candidate : kTypes) {
    if (type == candidate.name) return candidate.family();
    known += fmt::format("{}{}", known.empty() ? "" : ", ", candidate.name);
  }
  config.fail("model_type", fmt::format("\"{}\" is not read; thimble reads {}", type, known));
}

}  // namespace

int64_t Model::layers(Config::Names names, const std::string& before,
                      const std::string& behind) const {
  const int64_t count = config.size(names);
  for (int64_t i = 0; i < count; ++i) {
    static_cast<void>(weights.shape(before + std::to_string(i) + behind));
  }
  return count;
}

int64_t Model::tokens(int64_t positions) const {
  if (length <= positions) return length > 0 ? length : std::min(positions, kUsualTokens);
  throw Error(config.file(), fmt::format("the model takes samples of at most {} tokens, not {}",
                                         positions, length));
}

ActivationFn activation(const Config& config, Config::Names names, const std::string& otherwise) {
  const std::string name = config.text(names, otherwise);
  if (name == "gelu") return [](Value x) { return gelu(x); };
  if (name == "gelu_new" || name == "gelu_pytorch_tanh" || name == "gelu_fast") {
    return [](Value x) { return gelu(x, {.tanh_approximation = true}); };
  }
  if (name == "relu") return [](Value x) { return relu(x); };
  if (name == "silu" || name == "swish") return [](Value x) { return swish(x); };
  if (name == "tanh") return [](Value x) { return tanh(x); };
  if (name == "quick_gelu") return [](Value x) { return x * sigmoid(x * 1.702); };
  config.fail(*names.begin(),
              fmt::format("\"{}\" is not read; thimble reads gelu, gelu_new, gelu_fast, "
                          "gelu_pytorch_tanh, quick_gelu, relu, silu and tanh",
                          name));
}

Graph graph_of(const Config& config, Weights weights, int64_t length) {
  const Family& family = family_of(config);
  Graph graph;
  family.build(graph, {.config = config, .weights = weights, .length = length});
  for (ir::ValueData& data : graph.ir().values) {
    if (data.producer >= 0 || data.role != ir::Role::parameter) continue;
    data.data = weights.take(data.name, data.type.shape);
  }
  weights.require_all_taken(family.ignored);
  return graph;
}

}  // namespace thimble::importer::hugging_face

namespace thimble {

Graph import_hugging_face(const std::string& path, const HuggingFaceOptions& options) {
  namespace fs = std::filesystem;
  namespace hf = importer::hugging_face;
  std::error_code error;
  const fs::path file =
      fs::is_directory(path, error) ? fs::path(path) / hf::kConfig : fs::path(path);
  if (!fs::exists(file, error)) {
    throw Error(path, "has no config.json, so that it is no folder of a Hugging Face model");
  }
  if (options.tokens < 0) throw Error(path, "a sample has 1 token or more");
  const hf::Config config(file.string(), io::read_file(file.string(), hf::kMostConfigBytes));
  return hf::graph_of(config, hf::Weights::open(file.parent_path().string()), options.tokens);
}

}  // namespace thimble

// Hugging Face models as graphs, beside the results of the transformers library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/adapt.h>
#include <thimble/import.h>
#include <thimble/thimble.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/error_of.h"
#include "import/hugging_face/model.h"
#include "io/atomic_file.h"
#include "io/safetensors/safetensors.h"
#include "io/temporary_folder.h"
#include "ir/graph.h"

namespace thimble::test::hugging_face_test {
namespace {

namespace hf = importer::hugging_face;
using nlohmann::json;
using testing::HasSubstr;

// Sums of few dozen terms in another order, through two layers.
constexpr float kTolerance = 2e-5F;

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

const json& goldens() {
  static const json all =
      json::parse(std::ifstream(THIMBLE_SOURCE_DIR "/tests/import/hugging_face_goldens.json"));
  return all;
}

const json& golden(const std::string& name) {
  for (const json& each : goldens()["cases"]) {
    if (each["name"] == name) return each;
  }
  throw Error(name, "there is no such case");
}

// As in hugging_face_goldens.py.
std::vector<float> numbers(const std::string& name, int64_t count) {
  uint64_t state = 0;
  for (size_t i = 0; i < name.size(); ++i) state += (i + 1) * static_cast<uint64_t>(name[i]);
  std::vector<float> made;
  for (int64_t i = 1; i <= count; ++i) {
    const uint64_t mixed =
        (static_cast<uint64_t>(i) * 2654435761U + state * 40503U) % (uint64_t{1} << 32U);
    const uint64_t h = mixed * 2246822519U % (uint64_t{1} << 32U);
    made.push_back(static_cast<float>(static_cast<double>(h >> 8U) / 16777216.0 * 0.6 - 0.3));
  }
  return made;
}

// The tensors of a case, in a file of all or of every `shards`th.
io::Safetensors file_of(const json& each, const std::string& path, size_t shards = 1,
                        size_t shard = 0) {
  std::vector<std::pair<std::string, Array>> arrays;
  size_t at = 0;
  for (const auto& [name, dims] : each["tensors"].items()) {
    if (at++ % shards != shard) continue;
    const Shape shape(dims.get<std::vector<int64_t>>());
    arrays.emplace_back(name, Array(numbers(name, shape.elements()), shape));
  }
  std::vector<io::TensorView> views;
  for (const auto& [name, array] : arrays) {
    views.push_back(
        {.name = name, .dtype = DType::f32, .shape = array.shape(), .bytes = array.bytes()});
  }
  io::write_safetensors(path, views, {{"format", "pt"}});
  return io::Safetensors::open(path);
}

Graph imported(const json& config, const json& each, int64_t tokens) {
  const TemporaryFolder folder;
  std::vector<io::Safetensors> files;
  files.push_back(file_of(each, folder / "model.safetensors"));
  return hf::graph_of(hf::Config("config.json", config.dump()), hf::Weights(std::move(files)),
                      tokens);
}

bool is_image(const json& each) { return each["inputs"].contains("pixel_values"); }

Graph imported(const json& each) { return imported(each["config"], each, is_image(each) ? 0 : 7); }

std::map<std::string, Array> inputs_of(const json& each) {
  std::map<std::string, Array> inputs;
  for (const auto& [name, values] : each["inputs"].items()) {
    if (name == "pixel_values") {
      std::vector<int64_t> dims = values.get<std::vector<int64_t>>();
      dims.insert(dims.begin(), 2);
      const Shape shape(dims);
      inputs.emplace(name, Array(numbers(name, shape.elements()), shape));
    } else if (name == "attention_mask") {
      inputs.emplace(name, Array(values.get<std::vector<uint8_t>>(), {2, 7}));
    } else {
      inputs.emplace(name, Array(values.get<std::vector<int32_t>>(), {2, 7}));
    }
  }
  return inputs;
}

std::string error_of_config(const std::string& name, const std::string& field, const json& value) {
  const json& each = golden(name);
  json config = each["config"];
  config[field] = value;
  return error_of([&] { static_cast<void>(imported(config, each, is_image(each) ? 0 : 7)); });
}

TEST(hugging_face, computes_what_transformers_computes) {
  ASSERT_GE(goldens()["cases"].size(), 18U);
  for (const json& each : goldens()["cases"]) {
    SCOPED_TRACE(each["name"].get<std::string>());
    Predictor predictor(imported(each), 2);
    const auto made = predictor.run(inputs_of(each));
    ASSERT_EQ(made.size(), each["outputs"].size());
    for (const auto& [name, wanted] : each["outputs"].items()) {
      EXPECT_THAT(made.at(name).floats(), testing::Pointwise(testing::FloatNear(kTolerance),
                                                             wanted.get<std::vector<float>>()))
          << name;
    }
  }
}

TEST(hugging_face, shows_a_wrong_weight) {
  json each = golden("llama");
  json config = each["config"];
  config["rms_norm_eps"] = 0.02;
  const auto made = Predictor(imported(config, each, 7), 2).run(inputs_of(each));
  EXPECT_THAT(
      made.at("logits").floats(),
      testing::Not(testing::Pointwise(testing::FloatNear(kTolerance),
                                      each["outputs"]["logits"].get<std::vector<float>>())));
}

TEST(hugging_face, reads_a_folder_of_several_files) {
  const TemporaryFolder folder;
  const json& each = golden("llama");
  write_file(folder / "config.json", each["config"].dump());
  json map;
  const char* const names[] = {"a.safetensors", "b.safetensors"};
  size_t at = 0;
  for (const auto& [name, dims] : each["tensors"].items()) map[name] = names[at++ % 2];
  for (size_t i = 0; i < 2; ++i) static_cast<void>(file_of(each, folder / names[i], 2, i));
  write_file(folder / "model.safetensors.index.json", json{{"weight_map", map}}.dump());
  const Graph graph = import_hugging_face(folder.path(), {.tokens = 7});
  EXPECT_EQ(graph.text(), imported(each).text());
  EXPECT_EQ(Predictor(graph, 2).run(inputs_of(each)).at("logits").floats(),
            Predictor(imported(each), 2).run(inputs_of(each)).at("logits").floats());

  // An import like that of any other format, with the file's name or the folder's.
  EXPECT_EQ(import_model(folder / "config.json").ir().values.size(), graph.ir().values.size());

  map["lm_head.weight"] = "c.safetensors";
  write_file(folder / "model.safetensors.index.json", json{{"weight_map", map}}.dump());
  EXPECT_THAT(error_of([&] { static_cast<void>(import_model(folder.path())); }),
              HasSubstr("c.safetensors"));
  map["lm_head.weight"] = "../a.safetensors";
  write_file(folder / "model.safetensors.index.json", json{{"weight_map", map}}.dump());
  EXPECT_THAT(error_of([&] { static_cast<void>(import_model(folder.path())); }),
              HasSubstr("is no name of a file in the folder"));
  map["lm_head.weight"] = "a.safetensors";
  map["model.norm.weight"] = "b.safetensors";
  map["model.embed_tokens.weight"] = "b.safetensors";
  write_file(folder / "model.safetensors.index.json", json{{"weight_map", map}}.dump());
  EXPECT_THAT(error_of([&] { static_cast<void>(import_model(folder.path())); }),
              HasSubstr("where it should be"));
}

TEST(hugging_face, reads_16_bit_weights_and_old_names) {
  const TemporaryFolder folder;
  const json& each = golden("bert");
  std::vector<std::pair<std::string, Array>> arrays;
  for (const auto& [name, dims] : each["tensors"].items()) {
    const Shape shape(dims.get<std::vector<int64_t>>());
    std::string old = "bert." + name;
    if (const size_t end = old.find("LayerNorm.weight"); end != std::string::npos) {
      old = old.substr(0, end) + "LayerNorm.gamma";
    }
    arrays.emplace_back(old, Array(numbers(name, shape.elements()), shape).cast(DType::bf16));
  }
  arrays.emplace_back("bert.embeddings.position_ids", Array(std::vector<int64_t>{0, 1, 2}));
  std::vector<io::TensorView> views;
  for (const auto& [name, array] : arrays) {
    views.push_back(
        {.name = name, .dtype = array.dtype(), .shape = array.shape(), .bytes = array.bytes()});
  }
  io::write_safetensors(folder / "model.safetensors", views, {});
  write_file(folder / "config.json", each["config"].dump());
  const auto made =
      Predictor(import_hugging_face(folder.path(), {.tokens = 7}), 2).run(inputs_of(each));
  // Weights have 8 significant bits here.
  EXPECT_THAT(made.at("pooler_output").floats(),
              testing::Pointwise(testing::FloatNear(0.02F),
                                 each["outputs"]["pooler_output"].get<std::vector<float>>()));
}

TEST(hugging_face, trains_what_it_imports) {
  const json& each = golden("qwen2");
  const Graph graph = adapt(imported(each), {.loss = "softmax_cross_entropy", .label = "next"});
  Trainer trainer(graph, {.optimizer = Adam{.lr = 0.02}, .batch = 2});
  const Array ids = inputs_of(each).at("input_ids");
  const data::Dataset samples =
      data::in_memory({{"input_ids", {7}, DType::i32}, {"next", {7}, DType::i32}}, {ids, ids});
  const double first = trainer.step(samples).loss;
  double last = first;
  for (int i = 0; i < 20; ++i) last = trainer.step(samples).loss;
  EXPECT_LT(last, 0.7 * first);
}

// The size of a graph is bounded by the file: no layer is built whose tensors are not there.
TEST(hugging_face, looks_for_all_layers_first) {
  json each = golden("llama");
  const json last = each["tensors"]["model.layers.1.input_layernorm.weight"];
  each["tensors"]["model.layers.299999.input_layernorm.weight"] = last;
  json config = each["config"];
  config["num_hidden_layers"] = 300000;
  EXPECT_THAT(error_of([&] { static_cast<void>(imported(config, each, 7)); }),
              HasSubstr("model.layers.2.input_layernorm.weight is missing"));
}

TEST(hugging_face, names_what_it_does_not_read) {
  EXPECT_THAT(error_of_config("llama", "model_type", "t5"), HasSubstr("gpt2, llama"));
  EXPECT_THAT(error_of_config("llama", "model_type", 3), HasSubstr("expected a text, got 3"));
  EXPECT_THAT(error_of_config("llama", "hidden_act", "mish"), HasSubstr("hidden_act"));
  EXPECT_THAT(error_of_config("llama", "rope_parameters", json{{"rope_type", "yarn"}}),
              HasSubstr("yarn is not read"));
  EXPECT_THAT(error_of_config("llama", "rope_parameters", json{{"rope_type", "linear"}}),
              HasSubstr("rope_parameters.factor: is missing"));
  EXPECT_THAT(error_of_config("llama", "architectures", json{"LlamaForSequenceClassification"}),
              HasSubstr("is not read"));
  EXPECT_THAT(error_of_config("llama", "num_hidden_layers", 3),
              HasSubstr("model.layers.2.input_layernorm.weight is missing"));
  EXPECT_THAT(error_of_config("llama", "num_hidden_layers", 1),
              HasSubstr("belongs to nothing that config.json describes"));
  EXPECT_THAT(error_of_config("llama", "hidden_size", 32), HasSubstr("asks for [29, 32]"));
  EXPECT_THAT(error_of_config("llama", "hidden_size", -1), HasSubstr("a whole number from 1"));
  EXPECT_THAT(error_of_config("llama", "max_position_embeddings", 6),
              HasSubstr("at most 6 tokens, not 7"));
  EXPECT_THAT(error_of_config("mistral", "sliding_window", 6), HasSubstr("sliding_window"));
  EXPECT_THAT(error_of_config("gpt2", "add_cross_attention", true),
              HasSubstr("add_cross_attention"));
  EXPECT_THAT(error_of_config("bert", "position_embedding_type", "relative_key"),
              HasSubstr("position_embedding_type"));
  EXPECT_THAT(error_of_config("vit", "patch_size", 5), HasSubstr("patch_size"));
  const TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { static_cast<void>(import_model(folder.path())); }),
              HasSubstr("has no config.json"));
  write_file(folder / "config.json", golden("vit")["config"].dump());
  EXPECT_THAT(error_of([&] { static_cast<void>(import_model(folder.path())); }),
              HasSubstr("save the model as safetensors"));
}

}  // namespace
}  // namespace thimble::test::hugging_face_test

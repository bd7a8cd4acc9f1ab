// thimble quantize: from a trained model to a model file of int8.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include "cli/process.h"
#include "data/zip_of.h"

namespace thimble::test::quantize_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A short training of lenet5; its checkpoint.
std::string trained_lenet(const TemporaryFolder& folder) {
  const Outcome outcome = run({"train", "lenet5", "--out", folder / "out", "--limit-train", "1500",
                               "--limit-test", "100", "--batch", "32", "--epochs", "3", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return folder / "out/checkpoint.safetensors";
}

std::string bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

// Images of the built-in digits, without labels.
std::string digit_images(const TemporaryFolder& folder, int64_t count) {
  const data::Dataset digits = data::digits(count, 3);
  std::string all;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<float> image(784);
    int32_t digit = 0;
    void* const to[] = {image.data(), &digit};
    digits.read(i, to);
    all += bytes_of(image);
  }
  std::string path = folder / "images.npy";
  write_text(path, data::testing::npy_of("<f4", "(" + std::to_string(count) + ", 28, 28, 1)", all));
  return path;
}

// A model of two dense layers without a recipe, and eight samples for it.
std::string small_model(const TemporaryFolder& folder) {
  Graph g;
  const Value x = g.input("x", {2});
  const Value kind = g.label("kind");
  const Value scores = dense(relu(dense(x, {.units = 8})), {.units = 2});
  g.minimize(softmax_cross_entropy(scores, kind));
  g.metric("accuracy", accuracy(scores, kind));
  g.output("scores", scores);
  std::string path = folder / "m.safetensors";
  save_model(g, path, 3);
  return path;
}

std::string small_data(const TemporaryFolder& folder) {
  const std::string numbers = data::testing::npy_of(
      "<f4", "(8, 2)", bytes_of({3, 0, 2, 0, 0, 1, 0, 4, 1, 1, -2, 3, 4, -4, 0, 0}));
  const std::string kinds =
      data::testing::npy_of("|u1", "(8,)", std::string("\0\0\1\1\0\1\0\1", 8));
  std::string path = folder / "samples.npz";
  write_text(path, data::testing::zip_of({{"x.npy", numbers}, {"kind.npy", kinds}}));
  return path;
}

TEST(cli_quantize, reports_both_accuracies_and_every_layer) {
  const TemporaryFolder folder;
  const std::string weights = trained_lenet(folder);
  const std::string out = folder / "int8.safetensors";
  const Outcome outcome = run({"quantize", "lenet5", "--checkpoint", weights, "--samples", "64",
                               "--limit-test", "200", "-o", out, "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::ordered_json json = last_line_json(outcome.out);
  EXPECT_EQ(keys(json),
            "recipe file bytes calibration requantization samples test_samples f32 int8 layers "
            "float_layers");
  EXPECT_EQ(json["calibration"], "minmax");
  EXPECT_EQ(json["requantization"], "float");
  EXPECT_EQ(json["samples"], 64);
  EXPECT_EQ(json["test_samples"], 200);
  const double f32 = json["f32"]["metrics"]["accuracy"];
  const double int8 = json["int8"]["metrics"]["accuracy"];
  EXPECT_GT(f32, 0.3);
  EXPECT_NEAR(int8, f32, 0.03);
  ASSERT_EQ(json["layers"].size(), 7U);
  EXPECT_EQ(keys(json["layers"][0]), "name op scale zero_point sqnr_db");
  EXPECT_EQ(json["layers"][0]["name"], "conv1");
  EXPECT_EQ(json["layers"][0]["op"], "quantized_conv2d");
  for (const auto& layer : json["layers"]) EXPECT_GT(layer["sqnr_db"], 20.0) << layer;
  EXPECT_TRUE(json["float_layers"].empty());
  // A quarter of the weights' 4 bytes, and the graph.
  EXPECT_LT(json["bytes"], 61706 * 2);
}

TEST(cli_quantize, writes_a_file_that_other_commands_take) {
  const TemporaryFolder folder;
  const std::string weights = trained_lenet(folder);
  const std::string out = folder / "int8.safetensors";
  const Outcome outcome =
      run({"quantize", "lenet5", "--checkpoint", weights, "--samples", "64", "--calibration",
           "percentile", "--percentile", "99.9", "--requantization", "fixed_point", "--int8-input",
           "--limit-test", "100", "--out", out});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("conv1         quantized_conv2d "));
  EXPECT_THAT(outcome.out, HasSubstr("100 test samples of built-in digits:\n  f32   loss "));
  EXPECT_THAT(outcome.out, HasSubstr("\n  int8  loss "));
  EXPECT_THAT(outcome.out, HasSubstr("calibrated with 64 samples, in "));
  const Outcome summary = run({"summary", out});
  EXPECT_EQ(summary.code, 0) << summary.err;
  EXPECT_THAT(summary.out, HasSubstr("conv2"));
  const std::string x = folder / "x.npy";
  write_text(x, data::testing::npy_of("|i1", "(2, 28, 28, 1)", std::string(2 * 784, '\x05')));
  const Outcome predicted = run({"predict", out, "--input", x, "--out", folder / "y.npy"});
  EXPECT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_THAT(predicted.out, HasSubstr("logits f32[2, 10]"));
}

TEST(cli_quantize, takes_a_model_file_and_data_without_a_recipe) {
  const TemporaryFolder folder;
  const std::string model = small_model(folder);
  const std::string data = small_data(folder);
  const std::string out = folder / "int8.safetensors";
  const Outcome made = run({"quantize", model, "--data", data, "--calibration", "mse", "-o", out,
                            "--int8-output", "--json"});
  ASSERT_EQ(made.code, 0) << made.err;
  const nlohmann::ordered_json json = last_line_json(made.out);
  const Outcome evaluated = run({"eval", out, "--data", data, "--json"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_EQ(last_line_json(evaluated.out)["test_loss"], json["int8"]["test_loss"]);
  const Outcome trained =
      run({"train", out, "--data", data, "--optimizer", "sgd:lr=0.05,momentum=0.9", "--batch", "4",
           "--epochs", "3", "--out", folder / "trained", "--json"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const std::string checkpoint = folder / "trained/checkpoint.safetensors";
  const Outcome judged = run({"eval", checkpoint, "--data", data, "--json"});
  ASSERT_EQ(judged.code, 0) << judged.err;
  EXPECT_EQ(last_line_json(judged.out)["test_loss"], last_line_json(trained.out)["test_loss"]);
  const Outcome again = run({"quantize", out, "--data", data, "-o", folder / "n.safetensors"});
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.err, HasSubstr("the graph is quantized already"));
}

// Prepare, train, convert: with data of a file, because the graph is no recipe's any more.
TEST(cli_quantize, writes_a_model_that_trains_and_becomes_int8) {
  const TemporaryFolder folder;
  const std::string model = small_model(folder);
  const std::string data = small_data(folder);
  const std::string qat = folder / "qat.safetensors";
  const Outcome made =
      run({"quantize", model, "--qat", "--weight-bits", "3", "--data", data, "-o", qat, "--json"});
  ASSERT_EQ(made.code, 0) << made.err;
  const nlohmann::ordered_json json = last_line_json(made.out);
  EXPECT_EQ(keys(json),
            "recipe file bytes calibration weight_bits samples test_samples f32 qat float_layers");
  EXPECT_EQ(json["weight_bits"], 3);
  const Outcome text = run({"quantize", model, "--qat", "--data", data, "-o", folder / "q"});
  EXPECT_THAT(text.out, HasSubstr("\n  qat   loss "));
  EXPECT_THAT(text.out, HasSubstr("prepared for quantization-aware training, calibrated with 6 "));
  const Outcome trained = run({"train", qat, "--data", data, "--epochs", "30", "--lr", "0.01",
                               "--out", folder / "out", "--json"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_LT(last_line_json(trained.out)["test_loss"], json["qat"]["test_loss"]);
  const Outcome int8 = run({"quantize", folder / "out/checkpoint.safetensors", "--data", data, "-o",
                            folder / "int8.safetensors", "--json"});
  ASSERT_EQ(int8.code, 0) << int8.err;
  const nlohmann::ordered_json report = last_line_json(int8.out);
  EXPECT_NEAR(report["int8"]["test_loss"], report["f32"]["test_loss"], 1e-6);
  EXPECT_EQ(run({"quantize", model, "--weight-bits", "4", "--data", data, "-o", qat}).code, 2);
  EXPECT_EQ(run({"quantize", model, "--qat", "--weight-bits", "9", "-o", qat}).code, 2);
  EXPECT_EQ(run({"quantize", model, "--qat", "--int8-input", "-o", qat}).code, 2);
}

TEST(cli_quantize, of_a_model_without_loss_compares_layers_alone) {
  const TemporaryFolder folder;
  Graph g;
  g.output("y", conv2d(g.input("image", {28, 28, 1}), {.channels = 2, .kernel = 3}));
  save_model(g, folder / "m.safetensors");
  const Outcome made = run({"quantize", folder / "m.safetensors", "--data", digit_images(folder, 8),
                            "-o", folder / "n.safetensors", "--json"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(keys(last_line_json(made.out)),
            "recipe file bytes calibration requantization samples layers float_layers");
}

TEST(cli_quantize, says_what_is_wrong) {
  const TemporaryFolder folder;
  const std::string out = folder / "n.safetensors";
  const Outcome no_weights =
      run({"quantize", "lenet5", "--checkpoint", folder / "none", "-o", out});
  EXPECT_EQ(no_weights.code, 1);
  EXPECT_THAT(no_weights.err, HasSubstr("no such file"));
  Graph g;
  g.output("y", tanh(g.input("image", {28, 28, 1})));
  const std::string model = folder / "m.safetensors";
  save_model(g, model);
  const Outcome no_data = run({"quantize", model, "-o", out});
  EXPECT_EQ(no_data.code, 1);
  EXPECT_THAT(no_data.err, HasSubstr("[--data] is missing"));
  const std::string data = digit_images(folder, 4);
  const Outcome nothing = run({"quantize", model, "--data", data, "-o", out});
  EXPECT_EQ(nothing.code, 1);
  EXPECT_THAT(nothing.err, HasSubstr("no layer with weights has an int8 form"));
  const Outcome itself = run({"quantize", model, "--data", data, "-o", model});
  EXPECT_EQ(itself.code, 2);
  EXPECT_THAT(itself.err, HasSubstr("holds the weights"));
  const Outcome unknown = run({"quantize", model, "--calibration", "best", "-o", out});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("expected minmax|percentile|mse"));
  EXPECT_EQ(run({"quantize", model, "--data", data}).code, 2);
  EXPECT_EQ(run({"quantize", model, "--percentile", "20", "-o", out}).code, 2);
  EXPECT_THAT(no_data.err, Not(HasSubstr("\n[")));
}

}  // namespace
}  // namespace thimble::test::quantize_test

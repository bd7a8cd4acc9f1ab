// thimble eval: scores of classifiers, and models that have nothing to train.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <filesystem>

#include "cli/process.h"
#include "data/zip_of.h"

namespace thimble::test::eval_test {
namespace {

using ::testing::HasSubstr;

// Gives out its input times a frozen parameter of ones: scores of two classes. accuracy compares
// them with "kind"; "other" is another label of class indices, which comes later.
std::string frozen_classifier(const TemporaryFolder& folder) {
  Graph g;
  const Value x = g.input("x", {2});
  const Value kind = g.label("kind");
  const Value other = g.label("other");
  const Value scores = x * g.parameter("ones", {2}, init::constant(1.0));
  g.freeze("*");
  g.minimize(softmax_cross_entropy(scores, kind) + softmax_cross_entropy(scores, other));
  g.metric("accuracy", accuracy(scores, kind));
  g.output("scores", scores);
  std::string path = folder / "frozen.safetensors";
  save_model(g, path);
  return path;
}

std::string floats_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

// Four samples; the scores tell "kind", and "other" is its opposite but for one.
std::string samples(const TemporaryFolder& folder) {
  using data::testing::npy_of;
  std::string path = folder / "samples.npz";
  const std::string x = npy_of("<f4", "(4, 2)", floats_of({3, 0, 2, 0, 0, 1, 0, 4}));
  write_text(path, data::testing::zip_of(
                       {{"x.npy", x},
                        {"kind.npy", npy_of("|u1", "(4,)", std::string("\0\0\1\1", 4))},
                        {"other.npy", npy_of("|u1", "(4,)", std::string("\1\1\0\1", 4))}}));
  return path;
}

TEST(cli_eval, of_a_model_without_trained_parameters_has_all_scores) {
  const TemporaryFolder folder;
  const std::string model = frozen_classifier(folder);
  const std::string data = samples(folder);
  const std::string all = "precision,recall,f1,top5,roc_auc,confusion";
  const Outcome outcome =
      run({"eval", model, "--data", data, "--validation-split", "0.99", "--scores", all, "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::ordered_json json = last_line_json(outcome.out);
  EXPECT_EQ(keys(json), "recipe samples test_loss metrics planned_peak_bytes confusion");
  EXPECT_EQ(json["samples"], 3);
  EXPECT_EQ(keys(json["metrics"]), "accuracy f1 precision recall roc_auc top5");
  for (const auto& [name, value] : json["metrics"].items()) EXPECT_EQ(value, 1.0) << name;
  int64_t counted = 0;
  for (size_t label = 0; label < 2; ++label) {
    for (size_t predicted = 0; predicted < 2; ++predicted) {
      const int64_t count = json["confusion"][label][predicted];
      if (label != predicted) {
        EXPECT_EQ(count, 0);
      }
      counted += count;
    }
  }
  EXPECT_EQ(counted, 3);
  const Outcome table =
      run({"eval", model, "--data", data, "--validation-split", "0.99", "--scores", "confusion"});
  EXPECT_THAT(table.out, HasSubstr("samples by label (row) and predicted class (column):\n"));
  const Outcome text = run({"eval", model, "--data", data, "--scores", "roc_auc"});
  EXPECT_EQ(text.code, 1);  // of one sample, one class
  EXPECT_THAT(text.err, HasSubstr("needs samples of both classes"));
}

TEST(cli_eval, of_a_model_without_classes_says_so) {
  const TemporaryFolder folder;
  Graph g;
  const Value error = g.input("x", {2}) - g.label("y", {2}, DType::f32);
  g.minimize(mean(error * error));
  save_model(g, folder / "m");
  const Outcome outcome = run({"eval", folder / "m", "--data", samples(folder), "--scores", "f1"});
  EXPECT_EQ(outcome.code, 1);
}

TEST(cli_eval, predicts_without_trained_parameters) {
  const TemporaryFolder folder;
  const std::string model = frozen_classifier(folder);
  const std::string x = folder / "x.npy";
  write_text(x, data::testing::npy_of("<f4", "(1, 2)", floats_of({1, 2})));
  const Outcome outcome = run({"predict", model, "--input", x, "--out", folder / "y.npy"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST(cli_eval, takes_far_less_memory_than_training) {
  const TemporaryFolder folder;
  const Outcome trained = run(short_training("mlp", folder / "out", {"--epochs", "1", "--json"}));
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Outcome evaluated =
      run({"eval", "mlp", "--checkpoint", folder / "out/checkpoint.safetensors", "--limit-test",
           "64", "--batch", "64", "--json"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  const auto peak = [](const Outcome& outcome) {
    return last_line_json(outcome.out)["planned_peak_bytes"].get<int64_t>();
  };
  const int64_t of_eval = peak(evaluated);
  const Outcome plan = run({"plan", "mlp", "--batch", "64", "--json"});
  EXPECT_LT(2 * of_eval, peak(plan));
}

// A parameter of another type than f32 counts by its elements, too.
TEST(cli_eval, parameters_are_counted_by_their_elements) {
  const TemporaryFolder folder;
  Graph g;
  const Value x = g.input("x", {2});
  const Value bytes = g.parameter("bytes", {2}, init::constant(1.0), DType::i8);
  g.freeze("bytes");
  const Value logits = dense(x * cast(bytes, DType::f32), {.units = 2, .name = "d"});
  g.minimize(softmax_cross_entropy(logits, g.label("kind")));
  save_model(g, folder / "m");
  const Outcome saved = run({"save", folder / "m", "-o", folder / "n", "--json"});
  EXPECT_EQ(last_line_json(saved.out)["parameters"], 8);
  const Outcome trained = run({"train", folder / "m", "--data", samples(folder), "--out",
                               folder / "out", "--epochs", "1", "--json"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(last_line_json(trained.out)["parameters"], 8);
}

}  // namespace
}  // namespace thimble::test::eval_test

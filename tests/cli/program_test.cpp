// Compiling a program and training from it: the same bits as from the recipe.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/model_file.h>
#include <thimble/ops.h>

#include "cli/process.h"
#include "data/zip_of.h"

namespace thimble::test::program_cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> kSettings{"--batch", "16",   "--optimizer", "sgd:momentum=0.9",
                                         "--lr",    "0.05", "--schedule",  "cosine",
                                         "--seed",  "3",    "--threads",   "1"};
const std::vector<std::string> kData{"--limit-train", "50", "--limit-test", "20"};

std::vector<std::string> command(std::vector<std::string> words,
                                 const std::vector<std::vector<std::string>>& more) {
  for (const auto& list : more) words.insert(words.end(), list.begin(), list.end());
  return words;
}

TEST(cli_program, trains_to_the_bits_of_its_recipe) {
  const TemporaryFolder folder;
  const std::string file = folder / "step.thimble";
  const Outcome recipe =
      run(command({"train", "lenet5", "--epochs", "2", "--json", "--out", folder / "recipe"},
                  {kSettings, kData}));
  ASSERT_EQ(recipe.code, 0) << recipe.err;
  const Outcome compiled = run(
      command({"compile", "lenet5", "--epochs", "2", "--json", "-o", file}, {kSettings, kData}));
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  const auto json = last_line_json(compiled.out);
  EXPECT_EQ(keys(json),
            "file bytes recipe batch samples test_samples epochs planned_peak_bytes "
            "input_pipeline_bytes");
  EXPECT_EQ(json["samples"], 50);
  const Outcome program =
      run(command({"train", file, "--json", "--out", folder / "program"}, {kData}));
  ASSERT_EQ(program.code, 0) << program.err;
  const auto wanted = last_line_json(recipe.out);
  const auto got = last_line_json(program.out);
  for (const char* const key : {"weights_sha256", "test_loss", "test_accuracy", "train_loss",
                                "steps", "epochs", "planned_peak_bytes"}) {
    EXPECT_EQ(got[key], wanted[key]) << key;
  }
  // A run of the recipe goes on from the program's checkpoint.
  const Outcome resumed =
      run(command({"train", "lenet5", "--epochs", "2", "--json", "--out", folder / "resumed",
                   "--resume", folder / "program/checkpoint.safetensors"},
                  {kSettings, kData}));
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(last_line_json(resumed.out)["weights_sha256"], wanted["weights_sha256"]);
}

TEST(cli_program, of_a_model_file_begins_with_its_weights_and_needs_no_recipe) {
  const TemporaryFolder folder;
  const std::string model = folder / "mine.safetensors";
  const std::string file = folder / "step.thimble";
  ASSERT_EQ(run({"save", "lenet5", "--seed", "5", "-o", model}).code, 0);
  const Outcome whole = run(command(
      {"train", model, "--epochs", "1", "--json", "--out", folder / "whole"}, {kSettings, kData}));
  ASSERT_EQ(whole.code, 0) << whole.err;
  const Outcome compiled =
      run(command({"compile", model, "--epochs", "1", "-o", file}, {kSettings, kData}));
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  const Outcome program =
      run(command({"train", file, "--json", "--out", folder / "program"}, {kData}));
  ASSERT_EQ(program.code, 0) << program.err;
  const auto got = last_line_json(program.out);
  EXPECT_EQ(got["weights_sha256"], last_line_json(whole.out)["weights_sha256"]);
  EXPECT_EQ(got["recipe"], "mine");
  // Its checkpoint is a model file.
  const Outcome scored =
      run({"eval", folder / "program/checkpoint.safetensors", "--limit-test", "20", "--json"});
  ASSERT_EQ(scored.code, 0) << scored.err;
}

TEST(cli_program, leaves_out_samples_that_fill_no_batch_and_says_so) {
  const TemporaryFolder folder;
  const std::string file = folder / "step.thimble";
  const Outcome compiled = run({"compile", "lenet5", "--samples", "128", "--test-samples", "64",
                                "--batch", "32", "--threads", "1", "-o", file});
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  EXPECT_THAT(compiled.out, HasSubstr("training leaves out those that fill no batch of 32"));
  const auto weights = [&](const char* train, const char* test, const std::string& said) {
    const Outcome ended = run({"train", file, "--epochs", "1", "--limit-train", train,
                               "--limit-test", test, "--out", folder / "out", "--json"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(said));
    return ended.code == 0 ? last_line_json(ended.out)["weights_sha256"].get<std::string>() : "";
  };
  const std::string whole = weights("64", "32", "");
  EXPECT_EQ(weights("67", "32", "3 of 67 training samples are left out: they fill no batch of 32"),
            whole);
  EXPECT_EQ(weights("64", "40", "8 of 40 test samples are left out"), whole);
}

// Its inputs and labels are in the file; the samples are where it trains.
TEST(cli_program, of_a_model_without_recipe_needs_no_data) {
  using data::testing::npy_of;
  const TemporaryFolder folder;
  const std::string model = folder / "mine.safetensors";
  const std::string file = folder / "step.thimble";
  {
    Graph graph;
    const Value x = graph.input("x", {4});
    graph.minimize(softmax_cross_entropy(dense(x, {.units = 3}), graph.label("y")));
    save_model(graph, model, 7);
  }
  const Outcome planned = run({"plan", model, "--batch", "24"});
  ASSERT_EQ(planned.code, 0) << planned.err;
  EXPECT_THAT(planned.out, HasSubstr("reading is counted for 1008 training samples, none"));
  const Outcome compiled = run({"compile", model, "--batch", "24", "--threads", "1", "-o", file});
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  EXPECT_THAT(compiled.out,
              HasSubstr("for 1008 training samples and full batches of test samples, batch 24"));
  const std::string numbers = npy_of("<f4", "(160, 4)", std::string(160 * 16, '\0'));
  const std::string classes = npy_of("|u1", "(160,)", std::string(160, '\1'));
  write_text(folder / "set.npz",
             data::testing::zip_of({{"x.npy", numbers, true}, {"y.npy", classes}}));
  const Outcome trained =
      run({"train", file, "--data", folder / "set.npz", "--epochs", "1", "--out", folder / "out"});
  EXPECT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("8 of 128 training samples are left out"));
  EXPECT_THAT(trained.err, HasSubstr("8 of 32 test samples are left out"));
  // How samples become the inputs that the program takes is a matter of the data.
  const Outcome split =
      run({"train", file, "--data", folder / "set.npz", "--validation-split", "0.4", "--image-mean",
           "0.5", "--epochs", "1", "--out", folder / "out"});
  EXPECT_EQ(split.code, 0) << split.err;
  EXPECT_THAT(split.err, HasSubstr("16 of 64 test samples are left out"));
}

TEST(cli_program, refuses_what_is_settled_and_what_it_was_not_compiled_for) {
  const TemporaryFolder folder;
  const std::string file = folder / "step.thimble";
  const Outcome compiled = run({"compile", "lenet5", "--samples", "128", "--test-samples", "64",
                                "--threads", "1", "-o", file});
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  EXPECT_THAT(compiled.out, HasSubstr("for 128 training and 64 test samples, batch 64"));
  const Outcome settled = run({"train", file, "--batch", "3"});
  EXPECT_EQ(settled.code, 2);
  EXPECT_THAT(settled.err,
              HasSubstr("[--batch] is settled in a program: its steps and its memory"));
  const Outcome fewer =
      run({"train", file, "--limit-train", "63", "--limit-test", "64", "--out", folder / "out"});
  EXPECT_EQ(fewer.code, 1);
  EXPECT_THAT(fewer.err,
              HasSubstr("compile it for their number (samples; on the command line --samples)"));
  // Too few test samples are found before the first step.
  const Outcome untested =
      run({"train", file, "--limit-train", "64", "--limit-test", "63", "--out", folder / "out"});
  EXPECT_EQ(untested.code, 1);
  EXPECT_THAT(untested.err, HasSubstr("--test-samples"));
  EXPECT_THAT(untested.err, Not(HasSubstr("epoch")));
  const Outcome scored = run({"eval", file});
  EXPECT_EQ(scored.code, 1);
  EXPECT_THAT(scored.err, HasSubstr("is a program, which thimble train runs"));
  std::string bytes = read_text(file);
  bytes[bytes.size() / 2] ^= 1;
  write_text(file, bytes);
  const Outcome damaged = run({"train", file});
  EXPECT_EQ(damaged.code, 1);
  EXPECT_THAT(damaged.err, HasSubstr("is damaged between bytes"));
}

}  // namespace
}  // namespace thimble::test::program_cli_test

// A language model from texts to adapters: tokenize, adapt, train, export-lora.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <fstream>

#include "cli/process.h"

namespace thimble::test::lora_cli_test {
namespace {

constexpr int64_t kTokens = 8;
constexpr int64_t kWords = 331;  // of the tokenizer below

// Logits of the next token from the one before.
void write_model(const std::string& path) {
  Graph g;
  const Value ids = g.input("input_ids", {kTokens}, DType::i32);
  const Value table = g.parameter("table.weight", {kWords, 6}, init::normal(0.0, 0.1));
  const Value h = tanh(dense(embedding(ids, table), {.units = 6, .name = "block.up"}));
  g.output("logits", dense(h, {.units = kWords, .name = "head"}));
  save_model(g, path);
}

TEST(lora, goes_from_texts_to_adapters) {
  const TemporaryFolder folder;
  nlohmann::json goldens;
  std::ifstream(THIMBLE_SOURCE_DIR "/tests/io/tokenizer_goldens.json") >> goldens;
  write_text(folder / "tokenizer.json", goldens["cases"][0]["tokenizer"].dump());
  write_text(folder / "a.txt", "the cat and the other cat; the end of the first text.");
  const Outcome tokens = run({"tokenize", folder / "tokenizer.json", folder / "a.txt", "-o",
                              folder / "samples.safetensors", "--tokens", "8", "--json"});
  ASSERT_EQ(tokens.code, 0) << tokens.err;
  const auto report = last_line_json(tokens.out);
  EXPECT_EQ(report["vocabulary"], kWords);
  EXPECT_EQ(report["samples"], (report["tokens"].get<int64_t>() - 1) / kTokens);

  write_model(folder / "m");
  const Outcome made =
      run({"adapt", folder / "m", "--loss", "softmax_cross_entropy", "--label", "next", "--base",
           "bf16", "--lora", "rank=2,alpha=4,targets=up,head", "-o", folder / "mine", "--json"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(last_line_json(made.out)["trained_parameters"], 2 * (6 + 6) + 2 * (6 + kWords));
  const Outcome trained = run({"train", folder / "mine", "--data", folder / "samples.safetensors",
                               "--batch", "1", "--epochs", "1", "--out", folder / "out", "--json"});
  ASSERT_EQ(trained.code, 0) << trained.err;

  const std::string checkpoint = folder / "out/checkpoint.safetensors";
  const Outcome saved = run({"export-lora", checkpoint, "-o", folder / "adapter", "--json"});
  ASSERT_EQ(saved.code, 0) << saved.err;
  EXPECT_EQ(keys(last_line_json(saved.out)), "folder");
  const Outcome again = run({"adapt", folder / "m", "--loss", "softmax_cross_entropy", "--label",
                             "next", "--lora-from", folder / "adapter", "-o", folder / "again"});
  EXPECT_EQ(again.code, 0) << again.err;
  const Outcome merged = run({"adapt", checkpoint, "--merge-lora", "-o", folder / "merged"});
  ASSERT_EQ(merged.code, 0) << merged.err;
  EXPECT_EQ(run({"summary", folder / "merged"}).out.find("lora"), std::string::npos);
}

TEST(lora, says_what_it_does_not_understand) {
  const TemporaryFolder folder;
  write_model(folder / "m");
  const auto error = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"adapt", folder / "m", "-o", folder / "mine"});
    const Outcome outcome = run(options);
    EXPECT_EQ(outcome.code, 2);
    return outcome.err;
  };
  const auto expect = [&](const std::vector<std::string>& options, const char* wanted) {
    const std::string found = error(options);
    EXPECT_NE(found.find(wanted), std::string::npos) << found;
  };
  expect({"--lora", "rank=x,targets=up"}, "expected rank=N,alpha=X,targets=NAME");
  expect({"--lora", "width=3,targets=up"}, "expected rank=N,alpha=X,targets=NAME");
  expect({"--lora", "rank=2,targets=q_proj"}, "are called head, up");
  expect({"--lora", "targets=up", "--lora-from", folder / "m"}, "not both");
  expect({"--base", "i5"}, "--base");
  expect({"--merge-lora"}, "no adapters");
  const Outcome text = run({"tokenize", folder / "none.json", folder / "m", "-o", folder / "s"});
  EXPECT_EQ(text.code, 1);
  EXPECT_NE(text.err.find("none.json"), std::string::npos) << text.err;
}

}  // namespace
}  // namespace thimble::test::lora_cli_test

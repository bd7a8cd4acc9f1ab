// A language model from texts to adapters: tokenize, adapt, train, export-lora.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <fstream>

#include "cli/process.h"
#include "io/safetensors/safetensors.h"

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

io::TensorView tensor(const char* name, const std::vector<int32_t>& numbers) {
  return {.name = name,
          .dtype = DType::i32,
          .shape = {static_cast<int64_t>(numbers.size()) / kTokens, kTokens},
          .bytes = std::as_bytes(std::span(numbers))};
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
  constexpr int64_t kBudget = 256 * 1024;
  const Outcome trained = run({"train", folder / "mine", "--data", folder / "samples.safetensors",
                               "--batch", "1", "--epochs", "1", "--memory-budget",
                               std::to_string(kBudget), "--out", folder / "out", "--json"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_LE(last_line_json(trained.out)["measured_peak_bytes"], kBudget);

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

// --lora of train does what that of adapt does, and goes on from a checkpoint.
TEST(lora, is_added_by_train) {
  const TemporaryFolder folder;
  write_model(folder / "m");
  const Outcome base = run({"adapt", folder / "m", "--loss", "softmax_cross_entropy", "--label",
                            "next", "--base", "i8", "-o", folder / "base"});
  ASSERT_EQ(base.code, 0) << base.err;
  const char* const lora = "rank=2,alpha=4,targets=up,head";
  ASSERT_EQ(run({"adapt", folder / "base", "--lora", lora, "-o", folder / "mine"}).code, 0);
  std::vector<int32_t> words(4 * kTokens);
  for (size_t i = 0; i < words.size(); ++i) words[i] = static_cast<int32_t>(7 * i % kWords);
  const io::TensorView columns[] = {tensor("input_ids", words), tensor("next", words)};
  io::write_safetensors(folder / "data.safetensors", columns, {});
  const auto train = [&](std::vector<std::string> options) {
    options.insert(options.begin(), "train");
    for (const char* const more : {"--batch", "2", "--threads", "1", "--json", "--data"}) {
      options.emplace_back(more);
    }
    options.push_back(folder / "data.safetensors");
    return run(options);
  };
  const auto peak = [&](const std::vector<std::string>& model) {
    std::vector<std::string> options{"plan", "--batch", "2", "--threads", "1", "--json"};
    options.insert(options.end(), model.begin(), model.end());
    const Outcome planned = run(options);
    EXPECT_EQ(planned.code, 0) << planned.err;
    return last_line_json(planned.out)["planned_peak_bytes"].get<int64_t>();
  };
  EXPECT_EQ(peak({folder / "base", "--lora", lora}), peak({folder / "mine"}));
  EXPECT_NE(peak({folder / "base", "--lora", lora}), peak({folder / "base"}));
  const Outcome adapted =
      train({folder / "mine", "--epochs", "2", "--schedule", "constant", "--out", folder / "a"});
  ASSERT_EQ(adapted.code, 0) << adapted.err;
  const std::vector<std::string> added = {folder / "base", "--lora", lora,        "--schedule",
                                          "constant",      "--out",  folder / "b"};
  const auto with = [&](std::initializer_list<std::string> more) {
    std::vector<std::string> all = added;
    all.insert(all.end(), more);
    return train(all);
  };
  const Outcome first = with({"--epochs", "1"});
  ASSERT_EQ(first.code, 0) << first.err;
  const Outcome second = with({"--epochs", "2", "--resume", folder / "b/checkpoint.safetensors"});
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(last_line_json(second.out)["weights_sha256"],
            last_line_json(adapted.out)["weights_sha256"]);
  EXPECT_EQ(run({"export-lora", folder / "b/checkpoint.safetensors", "-o", folder / "c"}).code, 0);
  const Outcome recipe = run({"train", "mlp", "--lora", "rank=2,targets=*"});
  EXPECT_EQ(recipe.code, 2);
  EXPECT_NE(recipe.err.find("--weights"), std::string::npos) << recipe.err;
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
  const Outcome missing =
      run({"adapt", folder / "m", "--lora-from", folder / "none", "-o", folder / "out"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_NE(missing.err.find("none"), std::string::npos) << missing.err;
}

}  // namespace
}  // namespace thimble::test::lora_cli_test

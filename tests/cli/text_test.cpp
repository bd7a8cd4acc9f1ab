// Recipes that write texts, from the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "cli/process.h"
#include "io/base64.h"

namespace thimble::test::text_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::string> training(const std::string& out, const std::vector<std::string>& more) {
  std::vector<std::string> all{"train",        "lstm", "--out",    out, "--limit-train", "64",
                               "--limit-test", "32",   "--epochs", "1", "--threads",     "2"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(cli_text, training_tells_bits_and_shows_a_sample) {
  const TemporaryFolder folder;
  const Outcome outcome = run(training(folder / "out", {"--json"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::ordered_json json = last_line_json(outcome.out);
  EXPECT_NEAR(json["test_metrics"]["bits_per_byte"].get<double>(),
              json["test_loss"].get<double>() / std::log(2.0), 1e-4);
  EXPECT_TRUE(json["test_accuracy"].is_null());
  EXPECT_THAT(outcome.err, HasSubstr("built-in text: 64 training and 32 test samples"));
  const std::string report = read_text(folder / "out/report.html");
  EXPECT_THAT(report, HasSubstr("lstm on built-in text"));
  EXPECT_THAT(report, HasSubstr("perplexity of a byte"));
  EXPECT_THAT(report, HasSubstr("\"texts\":[{"));
  EXPECT_EQ(read_text(folder / "out/samples.txt").size(), 801U);
}

TEST(cli_text, sampling_takes_a_prompt_and_is_a_function_of_its_options) {
  const TemporaryFolder folder;
  ASSERT_EQ(run(training(folder / "out", {})).code, 0);
  const auto sample = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"sample", "lstm", "--checkpoint", folder / "out/checkpoint.safetensors"});
    return run(more);
  };
  const auto texts = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all{"--json", "--prompt", "The ", "--length", "30"};
    all.insert(all.end(), more.begin(), more.end());
    return last_line_json(sample(all).out)["texts"];
  };
  const auto two = texts({"--count", "2", "--seed", "3", "--top-k", "20"});
  ASSERT_EQ(two.size(), 2U);
  EXPECT_THAT(two[0].get<std::string>(), StartsWith("The "));
  EXPECT_NE(two[0], two[1]);
  EXPECT_EQ(two[0], texts({"--seed", "3", "--top-k", "20", "--threads", "1"})[0]);
  EXPECT_NE(two[0], texts({"--seed", "4", "--top-k", "20"})[0]);
  EXPECT_EQ(texts({"--temperature", "0"}), texts({"--top-k", "1", "--seed", "9"}));
  // Streamed, and into a file.
  const Outcome streamed = sample({"--prompt", "The ", "--length", "30", "--temperature", "0"});
  EXPECT_EQ(streamed.out, texts({"--temperature", "0"})[0].get<std::string>() + "\n");
  ASSERT_EQ(sample({"--length", "7", "--out", folder / "text"}).code, 0);
  EXPECT_EQ(read_text(folder / "text").size(), 8U);
}

constexpr const char* kHardPrompt = "\x1b[31m \xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82 \xc0\x80";

// An untrained model draws every byte.
class Untrained : public testing::Test {
 protected:
  Untrained() { EXPECT_EQ(run(training(folder_ / "out", {"--lr", "1e-9"})).code, 0); }

  [[nodiscard]] std::vector<std::string> sample(const std::vector<std::string>& more) const {
    std::vector<std::string> all{"sample",   "lstm", "--checkpoint", checkpoint(),
                                 "--length", "2000", "--prompt",     kHardPrompt};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  [[nodiscard]] std::string checkpoint() const { return folder_ / "out/checkpoint.safetensors"; }

  TemporaryFolder folder_;
};

using CliUntrainedText = Untrained;

TEST_F(CliUntrainedText, reaches_a_terminal_as_utf8_without_control_characters) {
  const Terminal terminal(100);
  if (terminal.path().empty()) GTEST_SKIP() << "this system gives no pseudo terminal";
  Process process(sample({}), {.standard_output = terminal.path()});
  const std::string text = terminal.read();
  EXPECT_EQ(process.wait().code, 0);
  EXPECT_THAT(text, StartsWith("\xef\xbf\xbd[31m \xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82 "
                               "\xef\xbf\xbd\xef\xbf\xbd"));
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    // The terminal itself adds a carriage return at the end of each line.
    ASSERT_TRUE(byte >= 0x20 || c == '\n' || c == '\t' || c == '\r') << static_cast<int>(byte);
    ASSERT_NE(byte, 0x7f);
  }
  EXPECT_NO_THROW(static_cast<void>(nlohmann::json(text).dump()));  // throws for invalid UTF-8
}

TEST_F(CliUntrainedText, reaches_files_pipes_and_json_byte_for_byte) {
  const std::string file = folder_ / "text";
  const Outcome written = run(sample({"--out", file}));
  EXPECT_THAT(written.out, StartsWith("1 text in "));
  const std::string text = read_text(file);
  ASSERT_EQ(text.size(), std::strlen(kHardPrompt) + 2001);
  EXPECT_THAT(text, StartsWith(kHardPrompt));
  EXPECT_EQ(run(sample({})).out, text);
  EXPECT_EQ(run(sample({"--count", "2", "--out", file})).out, "2 texts in " + file + "\n");
  EXPECT_EQ(run(sample({"--count", "2"})).out, read_text(file));
  const auto json = last_line_json(run(sample({"--json"})).out);
  EXPECT_EQ(json["texts_base64"][0], io::base64(text.substr(0, text.size() - 1)));
  EXPECT_THAT(json["texts"][0].get<std::string>(), HasSubstr("\xef\xbf\xbd"));
}

TEST(cli_text, learns_from_any_file) {
  const TemporaryFolder folder;
  std::string noise;
  for (int i = 0; i < 4000; ++i) noise += static_cast<char>(i * i >> 3);
  write_text(folder / "noise.bin", noise);
  const Outcome outcome = run(training(folder / "out", {"--data", folder / "noise.bin"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("the text given: 56 training and 6 test samples"));
  write_text(folder / "short.txt", "too short");
  const Outcome refused = run(training(folder / "out", {"--data", folder / "short.txt"}));
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("short.txt] holds 9 bytes"));
}

}  // namespace
}  // namespace thimble::test::text_test

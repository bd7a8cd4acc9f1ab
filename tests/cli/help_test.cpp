// Help pages, and errors in the command line itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "cli/process.h"

namespace thimble::test::help_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> kCommands{"train", "eval", "sample", "quantize", "summary",
                                         "plan",  "pack", "ops",    "version"};

void expect_fits_the_screen(const std::string& page) {
  std::istringstream text(page);
  for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 92U) << line;
}

TEST(cli_help, names_every_command) {
  const Outcome page = run({"--help"});
  EXPECT_EQ(page.code, 0);
  for (const std::string& command : kCommands) EXPECT_THAT(page.out, HasSubstr("\n  " + command));
  expect_fits_the_screen(page.out);
}

TEST(cli_help, of_every_command_tells_options_and_exit_codes_within_the_screen) {
  for (const std::string& command : kCommands) {
    const Outcome page = run({command, "--help"});
    EXPECT_EQ(page.code, 0) << command;
    EXPECT_EQ(page.err, "") << command;
    EXPECT_THAT(page.out, HasSubstr("Usage: thimble " + command));
    EXPECT_THAT(page.out, HasSubstr("--json"));
    EXPECT_THAT(page.out, HasSubstr("Exit codes: 0 "));
    expect_fits_the_screen(page.out);
  }
}

// An option with a value shows its default in brackets, unless it is a limit.
TEST(cli_help, says_the_default_of_every_option_with_a_value) {
  const std::regex option("\n  (--[a-z-]+) [A-Z]");
  for (const std::string& command : kCommands) {
    const std::string page = run({command, "--help"}).out;
    for (std::sregex_iterator it(page.begin(), page.end(), option), end; it != end; ++it) {
      const auto from = static_cast<size_t>(it->position()) + 1;
      const std::string text = page.substr(from, page.find("\n  --", from) - from);
      const bool says = text.find('[') != std::string::npos ||
                        text.find("without it") != std::string::npos ||
                        text.find("only") != std::string::npos || (*it)[1] == "--resume";
      EXPECT_TRUE(says) << command << ": " << text;
    }
  }
}

TEST(cli_help, of_sample_lists_the_recipes_that_sample) {
  const std::string page = run({"sample", "--help"}).out;
  const std::string list = page.substr(0, page.find("\nOptions:"));
  for (const char* recipe : {"gpt", "lstm", "unet_ddpm", "vae"}) {
    EXPECT_THAT(list, HasSubstr(std::string(" ") + recipe + " ")) << recipe;
  }
  for (const char* recipe : {"lenet5", "mlp", "mobilenetv2", "resnet18"}) {
    EXPECT_EQ(list.find(std::string(" ") + recipe + " "), std::string::npos) << recipe;
  }
  const std::string options = page.substr(list.size());
  EXPECT_THAT(options, HasSubstr("unet_ddpm, vae: "));
  EXPECT_THAT(options, Not(HasSubstr("resnet18")));
}

TEST(cli_help, of_train_names_the_options_of_a_training) {
  const std::string page = run({"train", "--help"}).out;
  for (const char* option : {"--data", "--epochs", "--batch", "--lr", "--optimizer", "--schedule",
                             "--seed", "--threads", "--out", "--resume", "--limit-train"}) {
    EXPECT_THAT(page, HasSubstr(std::string("\n  ") + option + " ")) << option;
  }
}

struct BadLine {
  const char* name;
  std::vector<std::string> arguments;
  std::vector<std::string> said;  // texts that the error must contain
};

const BadLine kBadLines[] = {
    {"nothing", {}, {"command", "--help"}},
    {"unknown_command", {"tarin"}, {"\"tarin\"", "--help"}},
    {"missing_recipe", {"train"}, {"MODEL", "thimble train --help"}},
    {"unknown_recipe", {"summary", "vea"}, {"\"vea\"", "vae", "lenet5", "mlp"}},
    {"unknown_option", {"plan", "vae", "--bach", "3"}, {"--bach", "thimble plan --help"}},
    {"missing_value", {"plan", "vae", "--batch"}, {"--batch"}},
    {"no_number", {"plan", "vae", "--batch", "many"}, {"--batch", "\"many\"", "whole number"}},
    {"fraction", {"plan", "vae", "--batch", "1.5"}, {"--batch", "\"1.5\""}},
    {"zero", {"train", "vae", "--epochs", "0"}, {"--epochs", "1 or more"}},
    {"negative_rate", {"train", "vae", "--lr", "-1"}, {"--lr", "above 0"}},
    {"rate_not_finite", {"train", "vae", "--lr", "inf"}, {"--lr", "above 0"}},
    {"average_that_never_moves", {"plan", "vae", "--ema-decay", "1"}, {"--ema-decay", "below 1"}},
    {"recipe_that_draws_nothing", {"sample", "mlp"}, {"mlp", "images: ", "vae", "texts: ", "gpt"}},
    {"option_for_texts", {"sample", "vae", "--prompt", "x"}, {"vae takes no --prompt", "--count"}},
    {"option_for_images", {"sample", "gpt", "--columns", "3"}, {"--columns", "gpt", "images: "}},
    {"none_of_the_bytes", {"sample", "gpt", "--top-k", "0"}, {"--top-k", "1 to 256"}},
    {"more_than_all_bytes", {"sample", "gpt", "--top-k", "257"}, {"--top-k", "1 to 256"}},
    {"steps_of_no_diffusion", {"sample", "vae", "--steps", "9"}, {"vae takes no --steps"}},
    {"too_many_steps", {"sample", "unet_ddpm", "--steps", "2000"}, {"--steps", "1 to 1000"}},
    {"negative_temperature", {"sample", "gpt", "--temperature", "-1"}, {"--temperature", "0 or"}},
    {"no_temperature", {"sample", "gpt", "--temperature", "nan"}, {"--temperature", "number"}},
    {"no_sample", {"sample", "vae", "--count", "0"}, {"--count", "1 to 100000"}},
    {"no_length", {"sample", "gpt", "--length", "-3"}, {"--length", "from 1", "-3"}},
    {"too_much_text",
     {"sample", "gpt", "--count", "9999", "--length", "999999"},
     {"--count", "--length", "1073741824"}},
    {"too_many_threads", {"eval", "vae", "--threads", "99999"}, {"--threads", "1024"}},
    {"number_too_long", {"plan", "vae", "--batch", "99999999999999999999"}, {"--batch"}},
    {"unknown_optimizer", {"plan", "vae", "--optimizer", "sdg"}, {"\"sdg\"", "sgd", "adamw"}},
    {"unknown_setting", {"plan", "vae", "--optimizer", "sgd:speed=1"}, {"speed", "momentum"}},
    {"unknown_schedule", {"plan", "vae", "--schedule", "cosin"}, {"\"cosin\"", "cosine"}},
    {"empty_optimizer", {"plan", "vae", "--optimizer", ""}, {"\"\"", "adamw"}},
    {"bad_budget", {"plan", "vae", "--memory-budget", "much"}, {"\"much\"", "MiB"}},
    {"negative_budget", {"plan", "vae", "--memory-budget", "-1MiB"}, {"\"-1MiB\"", "MiB"}},
    {"unknown_unit", {"plan", "vae", "--memory-budget", "3XiB"}, {"\"3XiB\"", "GiB"}},
    {"huge_budget", {"plan", "vae", "--memory-budget", "1e30"}, {"\"1e30\"", "more than any"}},
    {"no_budget", {"plan", "vae", "--memory-budget", "0"}, {"\"0\" is less than a byte"}},
    {"tiny_budget", {"plan", "vae", "--memory-budget", "1e-400"}, {"is less than a byte"}},
    {"budget_beyond_double", {"plan", "vae", "--memory-budget", "1e400"}, {"more than any"}},
    {"budget_below_double", {"plan", "vae", "--memory-budget=-1e400"}, {"is not a size"}},
    {"infinite_budget", {"plan", "vae", "--memory-budget", "inf"}, {"is not a size"}},
    {"less_than_a_byte",
     {"train", "vae", "--memory-budget", "0.0001KiB"},
     {"\"0.0001KiB\" is less than a byte", "for no limit"}},
    {"always_swap_for_no_budget",
     {"plan", "vae", "--swap", "always"},
     {"--swap always", "without --memory-budget"}},
    {"folder_for_no_budget",
     {"train", "vae", "--swap-dir", "/tmp"},
     {"--swap-dir", "without --memory-budget"}},
    {"folder_for_no_file",
     {"plan", "vae", "--memory-budget", "9MiB", "--swap", "never", "--swap-dir", "/tmp"},
     {"--swap-dir", "--swap never"}},
    {"parts_for_no_budget",
     {"plan", "vae", "--micro-batches", "auto"},
     {"--micro-batches auto", "without --memory-budget"}},
    {"split_of_nothing",
     {"plan", "resnet18", "--split-batch-norm"},
     {"--split-batch-norm", "without --micro-batches"}},
    {"loss_scale_of_f32",
     {"plan", "vae", "--loss-scale", "2"},
     {"--loss-scale", "without --precision f16"}},
    {"interval_of_bf16",
     {"plan", "vae", "--precision", "bf16", "--loss-scale-interval", "9"},
     {"--loss-scale-interval", "without --precision f16"}},
    {"unknown_swap", {"plan", "vae", "--swap", "often"}, {"--swap", "never|auto|always"}},
    {"no_swap_dir", {"plan", "vae", "--swap-dir", "/no/such/place"}, {"--swap-dir", "exist"}},
    {"no_parts", {"plan", "vae", "--micro-batches", "0"}, {"--micro-batches", "auto", "\"0\""}},
    {"some_parts", {"train", "vae", "--micro-batches", "few"}, {"--micro-batches", "auto"}},
    {"unknown_storage", {"plan", "vae", "--saved-activations", "i8"}, {"f32|bf16|f16", "\"i8\""}},
};

TEST(cli_usage, errors_are_one_line_that_says_what_to_do_and_exit_code_2) {
  for (const BadLine& bad : kBadLines) {
    const Outcome outcome = run(bad.arguments);
    EXPECT_EQ(outcome.code, 2) << bad.name;
    EXPECT_EQ(outcome.out, "") << bad.name;
    EXPECT_EQ(lines(outcome.err), 1) << bad.name << ": " << outcome.err;
    EXPECT_THAT(outcome.err, ::testing::StartsWith("thimble: ")) << bad.name;
    for (const std::string& part : bad.said) EXPECT_THAT(outcome.err, HasSubstr(part)) << bad.name;
  }
}

}  // namespace
}  // namespace thimble::test::help_test

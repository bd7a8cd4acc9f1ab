#include "options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "commands.h"

namespace thimble::cli {
namespace {

// As many as our MNIST split has for training; enough of the rest for a steady test figure.
constexpr int64_t kDigitsTrain = 10000;
constexpr int64_t kDigitsTest = 2000;
constexpr uint64_t kDigitsSeed = 1;

data::Dataset limited(const data::Dataset& dataset, int64_t limit) {
  return limit > 0 ? dataset.take(limit) : dataset;
}

}  // namespace

void DataOptions::add_to(CLI::App& command) {
  command
      .add_option(
          "--data", dir,
          "folder with MNIST's four IDX files, plain or .gz, or with a folder mnist that "
          "has them; without it THIMBLE_DATA is taken, and without that the built-in digits")
      ->envname("THIMBLE_DATA")
      ->type_name("DIR");
  command.add_option("--limit-test", limit_test, "use the first N test samples only")
      ->check(whole_number(1))
      ->type_name("N");
}

void DataOptions::add_limit_train_to(CLI::App& command) {
  command.add_option("--limit-train", limit_train, "use the first N training samples only")
      ->check(whole_number(1))
      ->type_name("N");
}

data::Dataset load_train(const DataOptions& options) {
  return limited(options.dir.empty() ? data::digits(kDigitsTrain, kDigitsSeed, data::Split::train)
                                     : data::mnist(options.dir, data::Split::train),
                 options.limit_train);
}

data::Dataset load_test(const DataOptions& options) {
  return limited(options.dir.empty() ? data::digits(kDigitsTest, kDigitsSeed, data::Split::test)
                                     : data::mnist(options.dir, data::Split::test),
                 options.limit_test);
}

void add_recipe(CLI::App& command, std::string& recipe) {
  std::string help = "the model, one of";
  for (const Recipe& known : recipes()) help += fmt::format("\n{:<7} {}", known.name, known.doc);
  command.add_option("RECIPE", recipe, help)->required();
}

const Recipe& chosen_recipe(const std::string& name) {
  return *from_command_line([&] { return &find_recipe(name); });
}

void add_checkpoint(CLI::App& command, std::string& checkpoint) {
  command
      .add_option("--checkpoint", checkpoint, "trained weights [out/RECIPE/checkpoint.safetensors]")
      ->type_name("FILE");
}

std::string checkpoint_of(const std::string& checkpoint, const Recipe& recipe) {
  std::string path =
      checkpoint.empty() ? fmt::format("out/{}/checkpoint.safetensors", recipe.name) : checkpoint;
  if (!std::filesystem::exists(path)) {
    throw Error(path, fmt::format("no such file; name a checkpoint with --checkpoint, or make one "
                                  "with thimble train {}",
                                  recipe.name));
  }
  return path;
}

void add_threads(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "threads; the result is the same [one per processor]")
      ->check(whole_number(1, 1024))
      ->type_name("N");
}

CLI::Validator whole_number(int64_t low, int64_t high) {
  return CLI::Validator(
      [low, high](const std::string& text) {
        int64_t value = 0;
        const char* const end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data(), end, value);
        if (error == std::errc() && rest == end && value >= low && value <= high)
          return std::string();
        return fmt::format("expected a whole number {}, got \"{}\"",
                           high == INT64_MAX ? fmt::format("of {} or more", low)
                                             : fmt::format("from {} to {}", low, high),
                           text);
      },
      "");
}

namespace {

// Numbers above 0 and below `high`.
CLI::Validator between_zero_and(double high, const char* expected) {
  return CLI::Validator(
      [high, expected](const std::string& text) {
        double value = 0.0;
        const char* const end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data(), end, value);
        if (error == std::errc() && rest == end && value > 0 && value < high) return std::string();
        return fmt::format("expected {}, got \"{}\"", expected, text);
      },
      "");
}

}  // namespace

CLI::Validator above_zero() { return between_zero_and(HUGE_VAL, "a number above 0"); }

CLI::Validator between_zero_and_one() {
  return between_zero_and(1.0, "a number above 0 and below 1");
}

int64_t parse_bytes(const std::string& text) {
  constexpr const char* kWhere = "memory budget";
  const std::string hint = "; write for example 262144, 256KiB, 24MiB or 1GiB";
  double number = 0.0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) {
    throw Error(kWhere, "\"" + text + "\" is not a size" + hint);
  }
  std::string unit(rest, end);
  unit.erase(
      std::remove_if(unit.begin(), unit.end(), [](unsigned char c) { return std::isspace(c); }),
      unit.end());
  for (char& c : unit) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::pair<const char*, double> kUnits[] = {
      {"", 1.0},   {"b", 1.0},  {"kib", 1024.0}, {"mib", 1048576.0}, {"gib", 1073741824.0},
      {"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}};
  for (const auto& [name, factor] : kUnits) {
    if (unit == name && number * factor < 9e18) return static_cast<int64_t>(number * factor);
  }
  throw Error(kWhere, "\"" + text + "\" is not a size" + hint);
}

}  // namespace thimble::cli

// Options that several commands share.
#pragma once

#include <thimble/thimble.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace thimble::cli {

// Whether a command takes the recipe.
using Offered = bool (*)(const Recipe&);
inline bool any_recipe(const Recipe& /*recipe*/) { return true; }

struct DataOptions {
  std::string path;         // --data
  data::OpenOptions open;   // how it is read where it is not of the recipe's own kind
  int64_t limit_train = 0;  // 0: all
  int64_t limit_test = 0;

  // Adds --data, how it is read, and --limit-test. add_path_to adds all but --limit-test;
  // add_limit_train_to adds --limit-train, for commands that train or plan. offered: the recipes
  // whose data the help describes.
  void add_to(CLI::App& command, Offered offered = any_recipe);
  void add_path_to(CLI::App& command, Offered offered = any_recipe);
  void add_limit_train_to(CLI::App& command);
};

// Adds --threads N.
void add_threads(CLI::App& command, int& threads);
// Adds --reference-kernels.
void add_reference_kernels(CLI::App& command, bool& reference_kernels);

// Checks of option values that say what is expected.
[[nodiscard]] CLI::Validator whole_number(int64_t low, int64_t high = INT64_MAX);
[[nodiscard]] CLI::Validator whole_number();  // any
[[nodiscard]] CLI::Validator any_number();    // finite
[[nodiscard]] CLI::Validator above_zero();
[[nodiscard]] CLI::Validator zero_to_one();  // without 1

// "4096", "24MiB", "1.5 GiB", "64kb" -> bytes. Throws Error otherwise.
[[nodiscard]] int64_t parse_bytes(const std::string& text);

}  // namespace thimble::cli

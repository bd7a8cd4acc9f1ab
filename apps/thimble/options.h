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

  // Adds --data, how it is read, and --limit-test; the others add --data and how it is read, and
  // --limit-train, for commands that
  // train or plan it. offered: of what recipes the help says what data they take.
  void add_to(CLI::App& command, Offered offered = any_recipe);
  void add_path_to(CLI::App& command, Offered offered = any_recipe);
  void add_limit_train_to(CLI::App& command);
};

// The source of a recipe's samples: --data; else THIMBLE_DATA, if it has data for this recipe; else
// the built-in data.
class DataSource {
 public:
  DataSource(const Recipe& recipe, const DataOptions& options);

  // Throw Error if --data has no such data, or the data are broken. If THIMBLE_DATA has none for
  // the recipe, a line on standard error says so.
  [[nodiscard]] data::Dataset train();
  [[nodiscard]] data::Dataset test();
  // Whether --limit-train left out anything of train().
  [[nodiscard]] bool left_out_training() const { return left_out_training_; }
  // For reports: "MNIST" or "built-in digits". Known once something was loaded.
  [[nodiscard]] const char* name() const;

 private:
  [[nodiscard]] data::Dataset load(data::Split split);
  // Data of the recipe's own kind, else whatever --data holds for the model's inputs.
  [[nodiscard]] data::Dataset at_path(data::Split split) const;
  // Whether there are such data at the path, whole or broken.
  [[nodiscard]] bool has(data::Split split) const;

  const Recipe& recipe_;
  const DataOptions& options_;
  std::string path_;  // empty: built in
  bool from_environment_ = false;
  mutable bool of_recipe_ = true;  // of its own kind
  bool left_out_training_ = false;
};

// Adds the positional argument RECIPE; its help names those that the command offers.
void add_recipe(CLI::App& command, std::string& recipe, Offered offered = any_recipe);
// The recipe of that name. Throws UsageError that lists the known ones.
[[nodiscard]] const Recipe& chosen_recipe(const std::string& name);

// Adds --checkpoint FILE, by default the one that train writes.
void add_checkpoint(CLI::App& command, std::string& checkpoint);
// The given file, or the one that train writes. Throws Error if it does not exist.
[[nodiscard]] std::string checkpoint_of(const std::string& checkpoint, const Recipe& recipe);

// Adds --threads N.
void add_threads(CLI::App& command, int& threads);

// Checks of option values that say what is expected.
[[nodiscard]] CLI::Validator whole_number(int64_t low, int64_t high = INT64_MAX);
[[nodiscard]] CLI::Validator whole_number();  // any
[[nodiscard]] CLI::Validator any_number();    // finite
[[nodiscard]] CLI::Validator above_zero();
[[nodiscard]] CLI::Validator zero_to_one();  // without 1

// "4096", "24MiB", "1.5 GiB", "64kb" -> bytes. Throws Error otherwise.
[[nodiscard]] int64_t parse_bytes(const std::string& text);

}  // namespace thimble::cli

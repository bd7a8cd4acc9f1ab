// Where the samples of a command come from.
#pragma once

#include <thimble/thimble.h>

#include <string>

#include "model.h"
#include "options.h"

namespace thimble::cli {

// The source of a model's samples: --data; else THIMBLE_DATA, if it has data for the model; else
// the built-in data of its recipe.
class DataSource {
 public:
  DataSource(const Model& model, const DataOptions& options);

  // Throw Error if --data has no such data, or the data are broken, and where a model of no recipe
  // is given none. If THIMBLE_DATA has none for a recipe, a line on standard error says so.
  [[nodiscard]] data::Dataset train();
  [[nodiscard]] data::Dataset test();
  // Whether the model has no data: it is of no recipe, and none are named.
  [[nodiscard]] bool has_none() const;
  // Whether --limit-train left out anything of train().
  [[nodiscard]] bool left_out_training() const { return left_out_training_; }
  // For reports: "MNIST", "built-in digits", or the path. Known once something was loaded.
  [[nodiscard]] const char* name() const;

 private:
  [[nodiscard]] data::Dataset load(data::Split split);
  // Data of the recipe's own kind, else whatever the path holds for the model's inputs.
  [[nodiscard]] data::Dataset at_path(data::Split split) const;
  // Whether there are such data at the path, whole or broken.
  [[nodiscard]] bool has(data::Split split) const;

  const Model& model_;
  const DataOptions& options_;
  std::string path_;  // empty: built in
  bool from_environment_ = false;
  mutable bool of_recipe_ = true;  // of its own kind
  bool left_out_training_ = false;
};

}  // namespace thimble::cli

// The named models that ship with thimble.
#pragma once

#include <thimble/graph.h>
#include <thimble/optimizers.h>
#include <thimble/schedule.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace thimble {

// A model with the settings that train it well.
struct Recipe {
  const char* name;
  const char* doc;   // one line
  Graph (*build)();  // inputs "image", label "digit" where it has one, loss, outputs
  int64_t batch;
  int64_t epochs;
  Optimizer (*optimizer)();
  // The schedule for a peak learning rate over all steps; null: constant.
  Schedule (*schedule)(double learning_rate, int64_t steps);
  // The part that turns latent codes into samples: input "z", output "image"; null: none.
  Graph (*decoder)();
  int64_t latent = 0;  // numbers in a latent code
};

// All recipes, sorted by name.
[[nodiscard]] std::span<const Recipe> recipes();

// Throws Error that lists the known names.
[[nodiscard]] const Recipe& find_recipe(const std::string& name);

}  // namespace thimble

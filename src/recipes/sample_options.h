// Checks of what a recipe is asked to sample, for every language and the command line.
#pragma once

#include <thimble/recipes.h>

#include <string>

namespace thimble::models {

// How users write an option's name.
enum class Spelling : uint8_t {
  names,  // top_k
  flags,  // --top-k
};

// Throws Error if the recipe makes no samples, or if an option has no meaning for it, is out
// of its range, or asks for more than memory should hold.
void check_sample_options(const Recipe& recipe, const SampleOptions& options,
                          Spelling spelling = Spelling::names);

// "images: unet_ddpm, vae; texts: gpt, lstm"
[[nodiscard]] std::string recipes_that_sample();

}  // namespace thimble::models

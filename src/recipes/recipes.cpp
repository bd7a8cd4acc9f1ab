#include "recipes/recipes.h"

#include <thimble/error.h>

namespace thimble {

std::span<const Recipe> recipes() {
  static const Recipe all[] = {models::gpt,       models::lenet5,      models::lstm,
                               models::mlp,       models::mobilenetv2, models::resnet18,
                               models::unet_ddpm, models::vae};
  return all;
}

const Recipe& find_recipe(const std::string& name) {
  std::string known;
  for (const Recipe& recipe : recipes()) {
    if (recipe.name == name) return recipe;
    known += (known.empty() ? "" : ", ") + std::string(recipe.name);
  }
  throw Error("recipe", "there is no recipe \"" + name + "\"; known: " + known);
}

}  // namespace thimble

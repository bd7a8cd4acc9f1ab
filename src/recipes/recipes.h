// The list of recipes. One file each.
#pragma once

#include <thimble/recipes.h>

namespace thimble::models {

extern const Recipe gpt;
extern const Recipe lenet5;
extern const Recipe lstm;
extern const Recipe mlp;
extern const Recipe mobilenetv2;
extern const Recipe resnet18;
extern const Recipe unet_ddpm;
extern const Recipe vae;

}  // namespace thimble::models

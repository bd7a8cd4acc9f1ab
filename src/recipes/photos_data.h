// Shared by the recipes that learn small colour photographs.
#pragma once

#include <thimble/data.h>
#include <thimble/schedule.h>

namespace thimble::models {

inline constexpr const char* kPhotosBuiltInName = "built-in shapes";
inline constexpr const char* kPhotosRealName = "CIFAR-10";
inline constexpr const char* kPhotosDoc =
    "folder with CIFAR-10's binary files, data_batch_1.bin ... test_batch.bin, or with a folder "
    "cifar-10-batches-bin that has them";

// The built-in images: as many as four cores can train on in a few minutes.
[[nodiscard]] inline data::Dataset built_in_photos(data::Split split, int64_t side) {
  constexpr uint64_t kSeed = 1;
  return data::shapes(split == data::Split::train ? 4000 : 1000, kSeed, split, side);
}

// Rises to the learning rate, then falls.
[[nodiscard]] inline Schedule photos_schedule(double learning_rate, int64_t steps) {
  return Schedule::one_cycle({.max = learning_rate, .total_steps = steps});
}

}  // namespace thimble::models

// What the recipes that write texts share: data, schedule and sampling.
#pragma once

#include <thimble/recipes.h>

#include <span>
#include <string>

namespace thimble::models {

inline constexpr const char* kTextDoc =
    "any file, its bytes as they are, or a folder with files *.txt or with a folder text that has "
    "them";
inline constexpr const char* kTextBuiltInName = "built-in text";
inline constexpr const char* kTextRealName = "the text given";

// Windows of the text at path, or, where none is named, of the first `built_in` bytes of the
// built-in text.
[[nodiscard]] data::Dataset text_data(const std::string& path, int64_t built_in, int64_t window,
                                      data::Split split);

// Up to the learning rate during the first twentieth of the steps, then down a cosine to its tenth.
[[nodiscard]] Schedule text_schedule(double learning_rate, int64_t steps);

// A model of bytes that takes one at a time, as train::StepModel has it.
struct TextModel {
  Graph (*step)();
  int64_t context;  // bytes that it can look back on; 0: no limit
};

// Texts that begin with the prompt, byte by byte. Where a text outgrows the context, the model
// reads the last half of it anew and goes on from there: what lies further back is forgotten.
[[nodiscard]] Samples sample_text(const TextModel& model, const std::string& checkpoint,
                                  const SampleOptions& options);

// The index of one of the scores, drawn with probabilities softmax(scores / temperature) among the
// top_k highest (0: all); temperature 0: the first of the highest. uniform: in [0, 1).
[[nodiscard]] int32_t drawn_index(std::span<const float> scores, double temperature, int64_t top_k,
                                  double uniform);

}  // namespace thimble::models

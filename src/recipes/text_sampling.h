// The common parts of recipes that write texts: data, loss, schedule and sampling.
#pragma once

#include <thimble/recipes.h>

#include <span>
#include <string>

namespace thimble::models {

// Windows of the text at path, or, where none is named, of the first `built_in` bytes of the
// built-in text.
[[nodiscard]] data::Dataset text_data(const std::string& path, int64_t built_in, int64_t window,
                                      data::Split split);

// Rises to the learning rate during the first twentieth of the steps, then falls along a cosine to
// a tenth of it.
[[nodiscard]] Schedule text_schedule(double learning_rate, int64_t steps);

// Loss, metric and output of a model that gives scores of the next byte, [N, T, 256].
void learn_next_byte(Graph& g, Value logits, Value next);

// The differences between such recipes; the fields are Recipe's.
struct TextRecipe {
  const char* name;
  const char* doc;
  Graph (*build)();
  data::Dataset (*data)(const std::string& path, data::Split split);
  int64_t batch;
  int64_t epochs;
  Optimizer (*optimizer)();
  Samples (*sampler)(const std::string& checkpoint, const SampleOptions& options);
  TorchWeights torch = {};
};

constexpr Recipe text_recipe(const TextRecipe& own) {
  return {
      .name = own.name,
      .doc = own.doc,
      .build = own.build,
      .data = own.data,
      .data_doc =
          "any file, its bytes as they are, or a folder with files *.txt or with a folder "
          "text that has them",
      .built_in_name = "built-in text",
      .real_name = "the text given",
      .batch = own.batch,
      .epochs = own.epochs,
      .optimizer = own.optimizer,
      .schedule = text_schedule,
      .makes = SampleKind::texts,
      .sampler = own.sampler,
      .torch = own.torch,
  };
}

// A model that reads one byte at a time, as train::StepModel runs it.
struct TextModel {
  Graph (*step)();
  int64_t context;  // bytes of context; 0: no limit
};

// Texts that begin with the prompt, byte by byte. When a text outgrows the context, the model reads
// its last half again and continues from there.
[[nodiscard]] Samples sample_text(const TextModel& model, const std::string& checkpoint,
                                  const SampleOptions& options);

// The index of one of the scores, drawn with probabilities softmax(scores / temperature) among the
// top_k highest (0: all); temperature 0: the first of the highest. uniform: in [0, 1).
[[nodiscard]] int32_t drawn_index(std::span<const float> scores, double temperature, int64_t top_k,
                                  double uniform);

}  // namespace thimble::models

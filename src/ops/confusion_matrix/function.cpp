#include <thimble/ops/confusion_matrix.h>

#include "ir/function_def.h"

namespace thimble::ops::confusion_matrix_impl {
namespace {

using Build = Value (*)(Value, Value, const ClassScoreOptions&);

template <Build build>
FunctionDef score(const char* name, const char* doc, const char* example) {
  return {
      .name = name,
      .doc = doc,
      .example = example,
      .inputs = {{"scores", "[N, ..., classes], or the shape of labels for two classes"},
                 {.name = "labels", .doc = "[N, ...]", .types = DType::i32}},
      .outputs = {{"score", "one number from 0 to 1"}},
      .options = ir::OptionSchema::of<ClassScoreOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {build(in[0], in[1], options_as<ClassScoreOptions>(options))};
      },
  };
}

}  // namespace
}  // namespace thimble::ops::confusion_matrix_impl

THIMBLE_FUNCTION_FOLDER(confusion_matrix) {
  static const FunctionDef precision = score<&precision_score>(
      "precision_score",
      "The share of what was taken for a class that is of it. As a metric, of all samples of an "
      "epoch together.",
      "g.metric(\"precision\", precision_score(logits, digit));");
  static const FunctionDef recall = score<&recall_score>(
      "recall_score",
      "The share of a class that was taken for it. As a metric, of all samples of an epoch "
      "together.",
      "g.metric(\"recall\", recall_score(logits, digit));");
  static const FunctionDef f1 = score<&f1_score>("f1_score",
                                                 "The harmonic mean of precision and recall. As a "
                                                 "metric, of all samples of an epoch together.",
                                                 "g.metric(\"f1\", f1_score(logits, digit));");
  static const FunctionDef* const defs[] = {&precision, &recall, &f1};
  return defs;
}

#include <fmt/format.h>
#include <thimble/ops/confusion_matrix.h>

#include "ir/graph.h"
#include "ops/confusion_matrix/dims.h"

#define THIMBLE_OP confusion_matrix
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::confusion_matrix_impl {
namespace {

// A matrix of more classes takes too much memory for a metric.
constexpr int64_t kMostClasses = 1024;
constexpr const char* kAverages[] = {"binary", "micro", "macro", "weighted"};
constexpr const char* kScores[] = {"precision", "recall", "f1"};

enum class Score : uint8_t { precision, recall, f1 };

// Attributes of class_score.
struct MatrixScoreAttrs {
  Score score = Score::f1;
  ClassAverage average = ClassAverage::macro;
  int64_t positive = 1;
};
void describe(MatrixScoreAttrs& a, ir::FieldVisitor& v) {
  v.enumeration("score", a.score, kScores, "which one");
  v.enumeration("average", a.average, kAverages, "how scores of classes become one");
  v.field("positive", a.positive, "the class that binary is about");
}

const OpDef& confusion_matrix_op() {
  static const OpDef def{
      .name = "confusion_matrix",
      .signature{
          .doc = "Shares of samples by their label (row) and by the class of highest score "
                 "(column).",
          .example = "auto matrix = confusion_matrix(logits, digit);",
          .inputs = {{"scores", "[N, ..., classes], or the shape of labels for two classes"},
                     {.name = "labels", .doc = "[N, ...]", .types = DType::i32}},
          .outputs = {{"matrix", "[classes, classes]"}},
          .attrs = ir::Attrs::schema_of<ConfusionMatrixOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const Shape& scores = c.shape(0);
        const Shape& labels = c.shape(1);
        c.require(labels.rank() >= 1, "expected labels [N, ...]");
        if (scores == labels) return {{DType::f32, {2, 2}}};
        std::vector<int64_t> rows = scores.dims();
        if (!rows.empty()) rows.pop_back();
        c.require(scores.rank() >= 1 && Shape(rows) == labels,
                  "expected scores of the shape of labels, or with an axis of classes behind it");
        const int64_t classes = scores[-1];
        c.require(classes >= 1 && classes <= kMostClasses,
                  fmt::format("expected 1 to {} classes", kMostClasses));
        return {{DType::f32, {classes, classes}}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return confusion_dims{.rows = static_cast<int>(c.in(1).elements()),
                                  .classes = static_cast<int>(c.out()[0]),
                                  .binary = c.in(0) == c.in(1) ? 1 : 0,
                                  .threshold = c.attrs.as<ConfusionMatrixOptions>().threshold};
          },
          .ref = ir::kernel_fn<&f32::confusion_matrix_ref>(),
          .ref64 = ir::kernel_fn<&f64::confusion_matrix_ref>(),
          .stay_f32 = {0},
      },
      .flow{.samples = [](const ir::SamplesContext&) { return ir::Samples::mean; }},
  };
  return def;
}

const OpDef& class_score_op() {
  static const OpDef def{
      .name = "class_score",
      .signature{
          .doc = "Precision, recall or F1 of a confusion matrix, whatever its scale.",
          .inputs = {{"matrix", "[classes, classes]"}},
          .outputs = {{"score", "one number from 0 to 1"}},
          .attrs = ir::Attrs::schema_of<MatrixScoreAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require_rank(0, 2);
        c.require(c.shape(0)[0] == c.shape(0)[1], "expected a matrix [classes, classes]");
        const auto& attrs = c.attrs.as<MatrixScoreAttrs>();
        c.require(attrs.average != ClassAverage::binary ||
                      (attrs.positive >= 0 && attrs.positive < c.shape(0)[0]),
                  "expected positive to be one of the classes");
        return {{DType::f32, {}}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const auto& attrs = c.attrs.as<MatrixScoreAttrs>();
            return class_score_dims{.classes = static_cast<int>(c.in(0)[0]),
                                    .score = static_cast<int>(attrs.score),
                                    .average = static_cast<int>(attrs.average),
                                    .positive = static_cast<int>(attrs.positive)};
          },
          .ref = ir::kernel_fn<&f32::class_score_ref>(),
          .ref64 = ir::kernel_fn<&f64::class_score_ref>(),
          .stay_f32 = {0},
      },
      .flow{.samples = [](const ir::SamplesContext&) { return ir::Samples::mixed; },
            .of_means = true},
  };
  return def;
}

Value score_of(Value scores, Value labels, const ClassScoreOptions& options, Score score) {
  const Value matrix = confusion_matrix(scores, labels, {.threshold = options.threshold});
  const MatrixScoreAttrs attrs{score, options.average, options.positive};
  return scores.graph().add1(class_score_op(), ir::Attrs::of(attrs), {matrix});
}

}  // namespace
}  // namespace thimble::ops::confusion_matrix_impl

THIMBLE_OP_FOLDER(confusion_matrix) {
  static const OpDef* const defs[] = {&confusion_matrix_op(), &class_score_op()};
  return defs;
}

namespace thimble {

void describe(ConfusionMatrixOptions& options, ir::FieldVisitor& visitor) {
  visitor.field("threshold", options.threshold,
                "without an axis of classes: a score above it means class 1");
}
void describe(ClassScoreOptions& options, ir::FieldVisitor& visitor) {
  visitor.enumeration("average", options.average, ops::confusion_matrix_impl::kAverages,
                      "how scores of classes become one");
  visitor.field("positive", options.positive, "the class that binary is about");
  visitor.field("threshold", options.threshold,
                "without an axis of classes: a score above it means class 1");
}

Value confusion_matrix(Value scores, Value labels, const ConfusionMatrixOptions& options) {
  return scores.graph().add1(ops::confusion_matrix_impl::confusion_matrix_op(),
                             ir::Attrs::of(options), {scores, labels});
}
Value precision_score(Value scores, Value labels, const ClassScoreOptions& options) {
  return ops::confusion_matrix_impl::score_of(scores, labels, options,
                                              ops::confusion_matrix_impl::Score::precision);
}
Value recall_score(Value scores, Value labels, const ClassScoreOptions& options) {
  return ops::confusion_matrix_impl::score_of(scores, labels, options,
                                              ops::confusion_matrix_impl::Score::recall);
}
Value f1_score(Value scores, Value labels, const ClassScoreOptions& options) {
  return ops::confusion_matrix_impl::score_of(scores, labels, options,
                                              ops::confusion_matrix_impl::Score::f1);
}

}  // namespace thimble

// Losses. ONNX has the classes as axis 1.
#include <thimble/ops.h>

#include "import/onnx/table.h"

namespace thimble::importer::onnx {
namespace {

constexpr int64_t kNoIndex = -1'000'000'007;  // no class index has this number

struct LossInputs {
  Value scores;  // [N, ..., classes]
  Value labels;  // [N, ...]
  Value weight;
  Reduction reduction = Reduction::mean;
  int64_t ignore_index = kNoIndex;
};

LossInputs inputs_of(Node& node) {
  LossInputs made;
  const int rank = node.rank(0);
  node.require(rank >= 2, "expected scores [N, classes, ...]");
  made.scores = node.value(0, channels_last(rank));
  made.labels = as_type(node.value(1), DType::i32);
  made.weight = node.optional(2);
  const std::string reduction = node.text("reduction", "mean");
  made.reduction = reduction == "mean"  ? Reduction::mean
                   : reduction == "sum" ? Reduction::sum
                                        : Reduction::none;
  made.ignore_index = node.integer("ignore_index", kNoIndex);
  return made;
}

void negative_log_likelihood(Node& node) {
  const LossInputs in = inputs_of(node);
  node.give(nll(in.scores, in.labels, in.weight,
                {.reduction = in.reduction, .ignore_index = in.ignore_index}));
}

void cross_entropy(Node& node) {
  const LossInputs in = inputs_of(node);
  node.give(softmax_cross_entropy(in.scores, in.labels, in.weight,
                                  {.reduction = in.reduction, .ignore_index = in.ignore_index}));
  if (node.gives(1)) {
    node.give(1, log_softmax(in.scores, {.axis = -1}), channels_last(node.rank(0)));
  }
}

}  // namespace

void add_losses(Conversions& table) {
  table["NegativeLogLikelihoodLoss"] = {negative_log_likelihood, false};
  table["SoftmaxCrossEntropyLoss"] = {cross_entropy, false};
}

}  // namespace thimble::importer::onnx

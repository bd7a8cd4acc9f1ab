#include "ops/families/conv/trained.h"

#include "ir/graph.h"
#include "ops/families/move/trained.h"

namespace thimble::ops {
namespace {

constexpr int kChannels = 3;  // of images; of weights the input channels of a group

bool is_depthwise(const Shape& weight, int64_t groups) {
  return groups > 1 && weight[0] == groups && weight[kChannels] == 1;
}

}  // namespace

std::optional<ir::LayerParameters> conv_parameters(const ir::KernelContext& c, int64_t groups) {
  const int axis = groups == 1 ? kChannels : is_depthwise(c.in(1), groups) ? 0 : -1;
  return ir::LayerParameters{.weight = 1, .bias = 2, .input_channels = axis};
}

std::optional<ir::LayerParameters> conv_transpose_parameters(int64_t groups) {
  return ir::LayerParameters{.weight = 1, .bias = 2, .input_channels = groups == 1 ? 0 : -1};
}

TrainedChannels trained_channels(Value x, Value dy, Value weight, int64_t groups) {
  const ir::TrainedPart& part = weight.graph().data(weight.id()).trained_part;
  const auto count = static_cast<int64_t>(part.indices.size());
  if (count == 0) return {x, dy, groups, 0};
  const int64_t all = x.shape()[kChannels];
  if (groups == 1) return {trained_slices(x, kChannels, weight, kChannels), dy, 1, all};
  // One channel alone is no depthwise convolution: its sums would be taken in another order.
  if (!is_depthwise(weight.shape(), groups) || count == 1) return {x, dy, groups, 0};
  return {trained_slices(x, kChannels, weight, 0), trained_slices(dy, kChannels, weight, 0), count,
          all};
}

}  // namespace thimble::ops

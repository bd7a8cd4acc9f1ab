// Sparse updates: what a scheme trains of a model.
#pragma once

#include <thimble/update_scheme.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::train {

// The trained parameters by name, and what of each.
using TrainedParameters = std::map<std::string, ir::TrainedPart>;

// Throws Error where the scheme does not fit the model, or has ratios below 1 (with_channels).
[[nodiscard]] TrainedParameters trained_parameters(const ir::Graph& model,
                                                   const UpdateScheme& scheme);

// Freezes all other parameters of the graph, and marks those that are trained in part.
void mark_trained(const TrainedParameters& trained, ir::Graph& graph);

// The index along an axis of each element of a tensor.
class Places {
 public:
  Places(const Shape& shape, int axis) : size_(static_cast<size_t>(shape[axis])) {
    for (int i = axis + 1; i < shape.rank(); ++i) inner_ *= static_cast<size_t>(shape[i]);
  }
  [[nodiscard]] size_t at(size_t element) const { return element / inner_ % size_; }

 private:
  size_t size_;
  size_t inner_ = 1;
};

// A score for every input channel of a weight; the channels of the largest ones are trained. axis:
// of the input channels.
using ChannelScores = std::function<std::vector<double>(const ir::ValueData& weight, int axis)>;

// The scheme with lists of channels in the place of ratios below 1. Throws Error as above.
[[nodiscard]] UpdateScheme with_channels(const ir::Graph& model, const UpdateScheme& scheme,
                                         const ChannelScores& scores);

// Whether channels of the scheme are to be chosen.
[[nodiscard]] bool has_ratios(const UpdateScheme& scheme);

// The sums of |weight| of the model's values or, where it has none, of the initial ones.
[[nodiscard]] ChannelScores magnitudes(uint64_t seed);

// The scheme whose channels a checkpoint has, if it was made with this one: as many channels of the
// same parameters. Else the given scheme.
[[nodiscard]] UpdateScheme continued(const ir::Graph& model, const UpdateScheme& scheme,
                                     const std::string& checkpoint);

// The name of the scheme in a checkpoint's metadata, and its text where there is none.
inline constexpr const char* kSchemeKey = "scheme";
inline constexpr const char* kNoScheme = "none";

}  // namespace thimble::train

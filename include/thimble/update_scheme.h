// Sparse updates: which parameters a training changes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace thimble {

class Graph;
struct TrainerOptions;
namespace data {
class Dataset;
}

// What is trained of a model; everything else is frozen. Nothing of the backward pass that only
// frozen parameters need is computed or kept, and gradients and optimizer state are of the trained
// part alone. As JSON:
//   {"bias_last": 20, "weights": {"conv1": 1, "conv3": 0.25, "dense": [3, 5, 8]}}
// Source: Lin et al., "On-Device Training Under 256KB Memory", 2022.
struct UpdateScheme {
  // How the channels of a ratio are chosen: those of the largest sum of |weight|, or of
  // |gradient * weight| for the mean loss of given samples (see choose_channels).
  enum class Choice : uint8_t { magnitude, contribution };

  // The trained part of a layer's weights.
  struct Part {
    double ratio = 1.0;             // of the input channels, above 0 and at most 1, rounded down
    std::vector<int64_t> channels;  // their numbers, in any order; none: as many as ratio says
    bool operator==(const Part&) const = default;
  };

  int64_t bias_last = 0;  // the biases of so many layers are trained: the last ones that have any
  // By layer, or by parameter where a layer has several weights. Where a layer's weights have no
  // input channels, such as those of a norm, a ratio of 1 trains all of them.
  std::map<std::string, Part> weights;
  Choice choice = Choice::magnitude;

  // From JSON; name: stands in errors. Throws Error that says what is wrong where.
  [[nodiscard]] static UpdateScheme parse(std::string_view json,
                                          const std::string& name = "scheme");
  [[nodiscard]] static UpdateScheme load(const std::string& path);
  // As JSON on one line.
  [[nodiscard]] std::string text() const;

  bool operator==(const UpdateScheme&) const = default;
};

// The scheme of these options with lists of channels in the place of ratios. Channels by magnitude
// are chosen by the values that the graph has, or by the initial ones of the options' seed;
// channels by contribution by the gradients on the samples. A trainer does the first itself. Throws
// Error where the scheme does not fit the graph.
[[nodiscard]] UpdateScheme choose_channels(const Graph& graph, const TrainerOptions& options,
                                           const data::Dataset& samples);

}  // namespace thimble

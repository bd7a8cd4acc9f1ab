#include "train/recognition.h"

#include <algorithm>
#include <cmath>

#include "train/inception_score.h"

namespace thimble::train {

Recognition recognition(std::span<const float> logits, int64_t classes) {
  const std::vector<double> p = class_probabilities(logits, classes);
  std::vector<int64_t> counts(static_cast<size_t>(classes), 0);
  Recognition result;
  for (auto row = p.begin(); row != p.end(); row += classes) {
    const auto likeliest = std::max_element(row, row + classes);
    ++result.images;
    if (!(*likeliest >= kRecognised)) continue;  // nor where it is NaN
    ++result.recognised;
    ++counts[static_cast<size_t>(likeliest - row)];
  }
  if (result.recognised == 0) return result;
  double entropy = 0.0;
  for (const int64_t count : counts) {
    const double share = static_cast<double>(count) / static_cast<double>(result.recognised);
    if (count > 0) entropy -= share * std::log(share);
  }
  result.kinds = std::exp(entropy);
  return result;
}

}  // namespace thimble::train

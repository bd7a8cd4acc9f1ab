#include "train/inception_score.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace thimble::train {

double inception_score(std::span<const float> logits, int64_t classes) {
  const auto k = static_cast<size_t>(std::max<int64_t>(classes, 0));
  if (k == 0 || logits.empty() || logits.size() % k != 0) {
    throw Error("inception score", fmt::format("expected images of {} logits, got {} numbers",
                                               classes, logits.size()));
  }
  const size_t images = logits.size() / k;
  std::vector<double> p(logits.begin(), logits.end());
  std::vector<double> marginal(k, 0.0);
  for (size_t i = 0; i < images; ++i) {
    double* const row = p.data() + i * k;
    const double largest = *std::max_element(row, row + k);
    double sum = 0.0;
    for (size_t c = 0; c < k; ++c) sum += row[c] = std::exp(row[c] - largest);
    for (size_t c = 0; c < k; ++c) marginal[c] += (row[c] /= sum) / static_cast<double>(images);
  }
  double divergence = 0.0;
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] > 0.0) divergence += p[i] * std::log(p[i] / marginal[i % k]);
  }
  return std::exp(divergence / static_cast<double>(images));
}

}  // namespace thimble::train

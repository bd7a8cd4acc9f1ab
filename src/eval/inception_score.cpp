#include "eval/inception_score.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <cmath>

namespace thimble::eval {

std::vector<double> class_probabilities(std::span<const float> logits, int64_t classes) {
  const auto k = static_cast<size_t>(std::max<int64_t>(classes, 0));
  if (k == 0 || logits.empty() || logits.size() % k != 0) {
    throw Error("class probabilities", fmt::format("expected images of {} logits, got {} numbers",
                                                   classes, logits.size()));
  }
  std::vector<double> p(logits.begin(), logits.end());
  for (size_t first = 0; first < p.size(); first += k) {
    double* const row = p.data() + first;
    const double largest = *std::max_element(row, row + k);
    double sum = 0.0;
    for (size_t c = 0; c < k; ++c) sum += row[c] = std::exp(row[c] - largest);
    for (size_t c = 0; c < k; ++c) row[c] /= sum;
  }
  return p;
}

double inception_score(std::span<const float> logits, int64_t classes) {
  const std::vector<double> p = class_probabilities(logits, classes);
  const auto k = static_cast<size_t>(classes);
  const auto images = static_cast<double>(p.size() / k);
  std::vector<double> marginal(k, 0.0);
  for (size_t i = 0; i < p.size(); ++i) marginal[i % k] += p[i] / images;
  double divergence = 0.0;
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] > 0.0) divergence += p[i] * std::log(p[i] / marginal[i % k]);
  }
  return std::exp(divergence / images);
}

}  // namespace thimble::eval

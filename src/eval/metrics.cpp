#include <thimble/metrics.h>

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace thimble::metrics {
namespace {

constexpr const char* kWhat = "metrics";

void check_scores(size_t labels, size_t scores, int64_t classes) {
  if (classes >= 1 && scores == labels * static_cast<size_t>(classes)) return;
  throw Error(kWhat,
              fmt::format("expected scores [{}, classes] for {} labels, got {} numbers for {} "
                          "classes",
                          labels, labels, scores, classes));
}

// Top and bottom of a share that may be 0 / 0.
double share(double top, double bottom) { return bottom > 0.0 ? top / bottom : 0.0; }

struct ClassCounts {
  double both = 0.0;
  double label = 0.0;
  double predicted = 0.0;
};

using Score = double (*)(const ClassCounts&);

double precision_of(const ClassCounts& c) { return share(c.both, c.predicted); }
double recall_of(const ClassCounts& c) { return share(c.both, c.label); }
double f1_of(const ClassCounts& c) { return share(2.0 * c.both, c.label + c.predicted); }

std::vector<ClassCounts> counts_of(const ConfusionMatrix& matrix) {
  std::vector<ClassCounts> counts(static_cast<size_t>(matrix.classes()));
  for (int64_t label = 0; label < matrix.classes(); ++label) {
    for (int64_t predicted = 0; predicted < matrix.classes(); ++predicted) {
      const auto count = static_cast<double>(matrix.count(label, predicted));
      counts[static_cast<size_t>(label)].label += count;
      counts[static_cast<size_t>(predicted)].predicted += count;
      if (label == predicted) counts[static_cast<size_t>(label)].both += count;
    }
  }
  return counts;
}

double averaged(const ConfusionMatrix& matrix, ClassAverage average, int64_t positive,
                Score score) {
  const std::vector<ClassCounts> counts = counts_of(matrix);
  if (average == ClassAverage::binary) {
    if (positive < 0 || positive >= matrix.classes()) {
      throw Error(kWhat, fmt::format("expected positive to be one of {} classes, got {}",
                                     matrix.classes(), positive));
    }
    return score(counts[static_cast<size_t>(positive)]);
  }
  ClassCounts all;
  double sum = 0.0;
  double weights = 0.0;
  for (const ClassCounts& c : counts) {
    all.both += c.both;
    all.label += c.label;
    all.predicted += c.predicted;
    const double occurs = c.label + c.predicted > 0.0 ? 1.0 : 0.0;
    const double weight = average == ClassAverage::weighted ? c.label : occurs;
    sum += weight * score(c);
    weights += weight;
  }
  return average == ClassAverage::micro ? score(all) : share(sum, weights);
}

// Areas of one class against the others, from the ranks of its scores (Mann and Whitney).
// positive(i): whether sample i is of the class; score(i): of the class.
template <class Positive, class ScoreOf>
double area(size_t samples, const Positive& positive, const ScoreOf& score) {
  std::vector<size_t> order(samples);
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = 0; i < samples; ++i) {
    if (std::isnan(score(i))) throw Error(kWhat, fmt::format("score {} is NaN", i));
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return score(a) < score(b); });
  double ranks = 0.0;  // of the class; equal scores share the mean of their ranks
  double of_class = 0.0;
  for (size_t begin = 0; begin < samples;) {
    size_t end = begin;
    double here = 0.0;
    while (end < samples && score(order[end]) == score(order[begin])) {
      here += positive(order[end]) ? 1.0 : 0.0;
      ++end;
    }
    ranks += here * (static_cast<double>(begin + end) + 1.0) / 2.0;
    of_class += here;
    begin = end;
  }
  const double others = static_cast<double>(samples) - of_class;
  if (of_class == 0.0 || others == 0.0) {
    throw Error(kWhat, "the area under the curve needs samples of both classes");
  }
  return (ranks - of_class * (of_class + 1.0) / 2.0) / (of_class * others);
}

void check_label(int32_t label, int64_t classes) {
  if (label >= 0 && label < classes) return;
  throw Error(kWhat, fmt::format("expected labels from 0 to {}, got {}", classes - 1, label));
}

}  // namespace

ConfusionMatrix::ConfusionMatrix(int64_t classes) : classes_(classes) {
  if (classes < 1) throw Error(kWhat, fmt::format("expected at least 1 class, got {}", classes));
  counts_.resize(static_cast<size_t>(classes * classes));
}

void ConfusionMatrix::add(std::span<const int32_t> labels, std::span<const int32_t> predictions) {
  if (labels.size() != predictions.size()) {
    throw Error(kWhat, fmt::format("expected a prediction for each of {} labels, got {}",
                                   labels.size(), predictions.size()));
  }
  for (const int32_t predicted : predictions) {
    if (predicted >= 0 && predicted < classes_) continue;
    throw Error(kWhat,
                fmt::format("expected predictions from 0 to {}, got {}", classes_ - 1, predicted));
  }
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= classes_) continue;
    ++counts_[static_cast<size_t>(labels[i] * classes_ + predictions[i])];
  }
}

void ConfusionMatrix::add_scores(std::span<const int32_t> labels, std::span<const float> scores) {
  check_scores(labels.size(), scores.size(), classes_);
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto row =
        scores.subspan(i * static_cast<size_t>(classes_), static_cast<size_t>(classes_));
    const bool is_number =
        std::none_of(row.begin(), row.end(), [](float x) { return std::isnan(x); });
    if (!is_number || labels[i] < 0 || labels[i] >= classes_) continue;
    const auto best = std::max_element(row.begin(), row.end()) - row.begin();
    ++counts_[static_cast<size_t>(labels[i] * classes_ + best)];
  }
}

int64_t ConfusionMatrix::count(int64_t label, int64_t predicted) const {
  for (const int64_t index : {label, predicted}) {
    if (index < 0 || index >= classes_) {
      throw Error(kWhat, fmt::format("there is no class {} of {}", index, classes_));
    }
  }
  return counts_[static_cast<size_t>(label * classes_ + predicted)];
}

int64_t ConfusionMatrix::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), int64_t{0});
}

double precision(const ConfusionMatrix& matrix, ClassAverage average, int64_t positive) {
  return averaged(matrix, average, positive, precision_of);
}
double recall(const ConfusionMatrix& matrix, ClassAverage average, int64_t positive) {
  return averaged(matrix, average, positive, recall_of);
}
double f1(const ConfusionMatrix& matrix, ClassAverage average, int64_t positive) {
  return averaged(matrix, average, positive, f1_of);
}
double accuracy(const ConfusionMatrix& matrix) {
  double right = 0.0;
  for (int64_t c = 0; c < matrix.classes(); ++c) right += static_cast<double>(matrix.count(c, c));
  return share(right, static_cast<double>(matrix.total()));
}

double roc_auc(std::span<const int32_t> labels, std::span<const float> scores) {
  check_scores(labels.size(), scores.size(), 1);
  for (const int32_t label : labels) check_label(label, 2);
  return area(
      labels.size(), [&](size_t i) { return labels[i] == 1; }, [&](size_t i) { return scores[i]; });
}

double roc_auc(std::span<const int32_t> labels, std::span<const float> scores, int64_t classes) {
  check_scores(labels.size(), scores.size(), classes);
  for (const int32_t label : labels) check_label(label, classes);
  double sum = 0.0;
  for (int64_t c = 0; c < classes; ++c) {
    sum += area(
        labels.size(), [&](size_t i) { return labels[i] == c; },
        [&](size_t i) {
          return scores[i * static_cast<size_t>(classes) + static_cast<size_t>(c)];
        });
  }
  return sum / static_cast<double>(classes);
}

double top_k_accuracy(std::span<const int32_t> labels, std::span<const float> scores,
                      int64_t classes, int64_t k) {
  check_scores(labels.size(), scores.size(), classes);
  if (labels.empty()) throw Error(kWhat, "top_k_accuracy needs at least one label");
  if (k < 1 || k > classes) {
    throw Error(kWhat, fmt::format("expected k from 1 to {} classes, got {}", classes, k));
  }
  double right = 0.0;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= classes) continue;
    const float* const row = scores.data() + i * static_cast<size_t>(classes);
    const float own = row[labels[i]];
    int64_t better = 0;
    for (int64_t c = 0; c < classes; ++c) {
      better += row[c] > own || (row[c] == own && c < labels[i]) ? 1 : 0;
    }
    right += better < k && !std::isnan(own) ? 1.0 : 0.0;
  }
  return right / static_cast<double>(labels.size());
}

}  // namespace thimble::metrics

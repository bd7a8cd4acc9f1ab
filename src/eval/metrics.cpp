#include <thimble/metrics.h>

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string>

namespace thimble::metrics {
namespace {

constexpr const char* kWhat = "metrics";

std::vector<double> numbers_of(const Array& scores) { return scores.cast(DType::f64).as<double>(); }

std::string with_classes(const Shape& labels) {
  std::string text = to_string(labels);
  text.pop_back();
  return text + (labels.rank() == 0 ? "classes]" : ", classes]");
}

// Scores of several classes for each label.
struct ClassScores {
  std::vector<int64_t> labels;
  std::vector<double> scores;
  int64_t classes;

  [[nodiscard]] std::span<const double> row(size_t label) const {
    const auto size = static_cast<size_t>(classes);
    return std::span(scores).subspan(label * size, size);
  }
};

ClassScores class_scores(const Array& labels, const Array& scores) {
  std::vector<int64_t> dims = scores.shape().dims();
  if (!dims.empty()) dims.pop_back();
  if (scores.shape().rank() < 1 || Shape(dims) != labels.shape() || scores.shape()[-1] < 1) {
    throw Error(kWhat, fmt::format("expected scores {}, with the classes as the last axis, for "
                                   "labels {}, got {}",
                                   with_classes(labels.shape()), to_string(labels.shape()),
                                   to_string(scores.shape())));
  }
  return {labels.integers(), numbers_of(scores), scores.shape()[-1]};
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

void check_label(int64_t label, int64_t classes) {
  if (label >= 0 && label < classes) return;
  throw Error(kWhat, fmt::format("expected labels from 0 to {}, got {}", classes - 1, label));
}

}  // namespace

ConfusionMatrix::ConfusionMatrix(int64_t classes) : classes_(classes) {
  if (classes < 1) throw Error(kWhat, fmt::format("expected at least 1 class, got {}", classes));
  counts_.resize(static_cast<size_t>(classes * classes));
}

void ConfusionMatrix::add(const Array& labels, const Array& predictions) {
  if (labels.elements() != predictions.elements()) {
    throw Error(kWhat, fmt::format("expected a prediction for each of {} labels, got {}",
                                   labels.elements(), predictions.elements()));
  }
  const std::vector<int64_t> wanted = labels.integers();
  const std::vector<int64_t> taken = predictions.integers();
  for (const int64_t predicted : taken) {
    if (predicted >= 0 && predicted < classes_) continue;
    throw Error(kWhat,
                fmt::format("expected predictions from 0 to {}, got {}", classes_ - 1, predicted));
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] < 0 || wanted[i] >= classes_) continue;
    ++counts_[static_cast<size_t>(wanted[i] * classes_ + taken[i])];
  }
}

void ConfusionMatrix::add_scores(const Array& labels, const Array& scores) {
  const ClassScores given = class_scores(labels, scores);
  if (given.classes != classes_) {
    throw Error(kWhat,
                fmt::format("expected scores of {} classes, got {}", classes_, given.classes));
  }
  for (size_t i = 0; i < given.labels.size(); ++i) {
    const int64_t label = given.labels[i];
    const std::span<const double> row = given.row(i);
    const bool is_number =
        std::none_of(row.begin(), row.end(), [](double x) { return std::isnan(x); });
    if (!is_number || label < 0 || label >= classes_) continue;
    const auto best = std::max_element(row.begin(), row.end()) - row.begin();
    ++counts_[static_cast<size_t>(label * classes_ + best)];
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

double roc_auc(const Array& labels, const Array& scores) {
  if (scores.shape() == labels.shape()) {
    const std::vector<int64_t> classes = labels.integers();
    const std::vector<double> numbers = numbers_of(scores);
    for (const int64_t label : classes) check_label(label, 2);
    return area(
        classes.size(), [&](size_t i) { return classes[i] == 1; },
        [&](size_t i) { return numbers[i]; });
  }
  const ClassScores given = class_scores(labels, scores);
  for (const int64_t label : given.labels) check_label(label, given.classes);
  double sum = 0.0;
  for (int64_t c = 0; c < given.classes; ++c) {
    sum += area(
        given.labels.size(), [&](size_t i) { return given.labels[i] == c; },
        [&](size_t i) { return given.row(i)[static_cast<size_t>(c)]; });
  }
  return sum / static_cast<double>(given.classes);
}

double top_k_accuracy(const Array& labels, const Array& scores, int64_t k) {
  const ClassScores given = class_scores(labels, scores);
  if (given.labels.empty()) throw Error(kWhat, "top_k_accuracy needs at least one label");
  if (k < 1 || k > given.classes) {
    throw Error(kWhat, fmt::format("expected k from 1 to {} classes, got {}", given.classes, k));
  }
  double right = 0.0;
  for (size_t i = 0; i < given.labels.size(); ++i) {
    const int64_t label = given.labels[i];
    if (label < 0 || label >= given.classes) continue;
    const std::span<const double> row = given.row(i);
    const double own = row[static_cast<size_t>(label)];
    int64_t better = 0;
    for (int64_t c = 0; c < given.classes; ++c) {
      const double other = row[static_cast<size_t>(c)];
      better += other > own || (other == own && c < label) ? 1 : 0;
    }
    right += better < k && !std::isnan(own) ? 1.0 : 0.0;
  }
  return right / static_cast<double>(given.labels.size());
}

}  // namespace thimble::metrics

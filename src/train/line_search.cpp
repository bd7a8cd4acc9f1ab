#include "train/line_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace thimble::train {
namespace {

constexpr double kDecrease = 1e-4;  // c1
constexpr double kCurvature = 0.9;  // c2
constexpr double kLeastGrowth = 0.01;
constexpr double kMostGrowth = 10.0;
constexpr double kEdge = 0.1;  // share of a bracket that is too close to its end

class Search {
 public:
  Search(const LinePoint& start, int64_t more_points, double largest, double tolerance,
         const std::function<LinePoint(double)>& evaluate)
      : start_(start),
        more_points_(more_points),
        largest_(largest),
        tolerance_(tolerance),
        evaluate_(evaluate) {}

  LineSearchResult run(double length) {
    if (!bracket(length)) zoom();
    return {lower(), evaluations_};
  }

 private:
  [[nodiscard]] bool decreases(const LinePoint& p) const {
    return p.value <= start_.value + kDecrease * p.length * start_.slope;
  }
  [[nodiscard]] bool is_flat(const LinePoint& p) const {
    return std::abs(p.slope) <= -kCurvature * start_.slope;
  }
  [[nodiscard]] const LinePoint& lower() const {
    return ends_[0].value <= ends_[1].value ? ends_[0] : ends_[1];
  }

  LinePoint at(double length) {
    ++evaluations_;
    return evaluate_(length);
  }

  void set(LinePoint first, LinePoint second) {
    ends_[0] = std::move(first);
    ends_[1] = std::move(second);
  }

  // Goes on until two lengths have a point of both conditions between them, or one is such a point;
  // true where the search is over.
  bool bracket(double length) {
    LinePoint before = start_;
    LinePoint now = at(length);
    for (points_ = 0; points_ < more_points_; ++points_) {
      if (!decreases(now) || (points_ > 1 && now.value >= before.value)) {
        set(std::move(before), std::move(now));
        return false;
      }
      if (is_flat(now)) {
        set(now, now);
        return true;
      }
      if (now.slope >= 0.0) {
        set(std::move(before), std::move(now));
        return false;
      }
      const double next =
          cubic_minimum(before, now, now.length + kLeastGrowth * (now.length - before.length),
                        kMostGrowth * now.length);
      before = std::move(now);
      now = at(next);
    }
    set(start_, std::move(now));
    return true;
  }

  // Where to look between the ends, away from them: a length close to one is taken once.
  double between() {
    const auto [low, high] = std::minmax(ends_[0].length, ends_[1].length);
    const double length = cubic_minimum(ends_[0], ends_[1], low, high);
    const double edge = kEdge * (high - low);
    if (std::min(high - length, length - low) >= edge) {
      was_close_ = false;
      return length;
    }
    if (!was_close_ && length < high && length > low) {
      was_close_ = true;
      return length;
    }
    was_close_ = false;
    return std::abs(length - high) < std::abs(length - low) ? high - edge : low + edge;
  }

  // Halves of the bracket until a point satisfies both conditions.
  void zoom() {
    for (; points_ < more_points_; ++points_) {
      if (std::abs(ends_[1].length - ends_[0].length) * largest_ < tolerance_) return;
      LinePoint point = at(between());
      const int low = ends_[0].value <= ends_[1].value ? 0 : 1;
      const int high = 1 - low;
      if (!decreases(point) || point.value >= ends_[low].value) {
        ends_[high] = std::move(point);
        continue;
      }
      const bool is_done = is_flat(point);
      if (!is_done && point.slope * (ends_[high].length - ends_[low].length) >= 0.0) {
        ends_[high] = ends_[low];
      }
      ends_[low] = std::move(point);
      if (is_done) return;
    }
  }

  const LinePoint& start_;
  int64_t more_points_;
  double largest_;
  double tolerance_;
  const std::function<LinePoint(double)>& evaluate_;
  LinePoint ends_[2];
  bool was_close_ = false;
  int64_t points_ = 0;  // after the first
  int64_t evaluations_ = 0;
};

}  // namespace

double cubic_minimum(const LinePoint& a, const LinePoint& b, double low, double high) {
  const LinePoint& left = a.length <= b.length ? a : b;
  const LinePoint& right = a.length <= b.length ? b : a;
  const double width = right.length - left.length;
  const double d1 = left.slope + right.slope - 3.0 * (left.value - right.value) / -width;
  const double square = d1 * d1 - left.slope * right.slope;
  if (!(square >= 0.0)) return (low + high) / 2.0;
  const double d2 = std::sqrt(square);
  const double share = (right.slope + d2 - d1) / (right.slope - left.slope + 2.0 * d2);
  return std::min(std::max(right.length - width * share, low), high);
}

LineSearchResult strong_wolfe(const LinePoint& start, double first_length, int64_t more_points,
                              double largest, double tolerance,
                              const std::function<LinePoint(double)>& evaluate) {
  return Search(start, more_points, largest, tolerance, evaluate).run(first_length);
}

}  // namespace thimble::train

#include "exec/rehearsal.h"

#include <thimble/error.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace thimble::exec {
namespace {

using Clock = std::chrono::steady_clock;

// As many as there is time for.
constexpr size_t kLeastRounds = 3;
constexpr size_t kMostRounds = 9;
constexpr double kSeconds = 1.0;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void rehearse(Session& session, const SwapFile& file, plan::NodeTimes& times,
              plan::SwapRates& rates) {
  // The first write of a place in the file is slower than all later ones.
  const Clock::time_point start = Clock::now();
  static_cast<void>(session.measure());
  const size_t least = seconds_since(start) > kSeconds ? 1 : kLeastRounds;
  std::vector<std::vector<double>> rounds;
  std::vector<double> busy_ms;
  while (rounds.size() < least ||
         (rounds.size() < kMostRounds && seconds_since(start) < kSeconds)) {
    const double before_ms = file.counters().busy_ms;
    rounds.push_back(session.measure());
    busy_ms.push_back(file.counters().busy_ms - before_ms);
  }
  if (const std::string error = file.error(); !error.empty()) throw Error("swap file", error);
  std::vector<double> node_ms(rounds.front().size());
  std::vector<double> of_node(rounds.size());
  for (size_t n = 0; n < node_ms.size(); ++n) {
    for (size_t r = 0; r < rounds.size(); ++r) of_node[r] = rounds[r][n];
    node_ms[n] = median(of_node);
  }
  const ir::Graph& step = session.program().graph();
  times.set(step, node_ms);
  const int64_t staging = session.program().plan().staging_bytes;
  const double predicted_ms = plan::busy_ms(step, rates.with_staging(staging));
  if (predicted_ms > 0.0) rates.scale(median(busy_ms) / predicted_ms, staging);
}

}  // namespace thimble::exec

#include "exec/rehearsal.h"
#include "exec/clock.h"

#include <thimble/error.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace thimble::exec {
namespace {

// Beyond the minimum, as many as time allows: disks are less steady than kernels.
constexpr size_t kLeastSteps = 3;
constexpr size_t kMostSteps = 64;
constexpr size_t kMostRounds = 9;  // rounds in which nodes are timed, at most
constexpr double kSeconds = 2.0;
constexpr size_t kEnough = 8;  // enough steps to leave out half of them

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Median of the later half if there are enough values: many disks are fast at first and then slow
// down.
double settled(std::vector<double> values) {
  if (values.size() >= kEnough) {
    values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  }
  return median(std::move(values));
}

}  // namespace

Rehearsal rehearse(Session& session, const SwapFile& file) {
  return rehearse_for(kSeconds, session, file);
}

Rehearsal rehearse_for(double seconds, Session& session, const SwapFile& file) {
  // The first write to a place in the file is slower than later ones.
  const Clock::time_point start = Clock::now();
  static_cast<void>(session.measure());
  const size_t least = seconds_since(start) > seconds ? 1 : kLeastSteps;
  std::vector<std::vector<double>> rounds;
  std::vector<double> step_ms;
  std::vector<double> busy_ms;
  std::vector<double> stall_ms;
  while (step_ms.size() < least ||
         (step_ms.size() < kMostSteps && seconds_since(start) < seconds)) {
    const SwapCounters before = file.counters();
    std::vector<double> node_ms = session.measure();
    const SwapCounters swapped = file.counters() - before;
    step_ms.push_back(std::accumulate(node_ms.begin(), node_ms.end(), 0.0));
    busy_ms.push_back(swapped.busy_ms);
    stall_ms.push_back(swapped.stall_ms);
    if (rounds.size() < kMostRounds) rounds.push_back(std::move(node_ms));
  }
  if (const std::string error = file.error(); !error.empty()) throw Error("swap file", error);
  Rehearsal result{.node_ms = std::vector<double>(rounds.front().size()),
                   .step_ms = settled(std::move(step_ms)),
                   .busy_ms = settled(std::move(busy_ms)),
                   .stall_ms = settled(std::move(stall_ms))};
  std::vector<double> of_node(rounds.size());
  for (size_t n = 0; n < result.node_ms.size(); ++n) {
    for (size_t r = 0; r < rounds.size(); ++r) of_node[r] = rounds[r][n];
    result.node_ms[n] = median(of_node);
  }
  return result;
}

}  // namespace thimble::exec

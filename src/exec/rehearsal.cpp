#include "exec/rehearsal.h"

#include <thimble/error.h>

#include <chrono>

namespace thimble::exec {
namespace {

constexpr int kRounds = 3;
constexpr double kLongSeconds = 1.0;

}  // namespace

void rehearse(Session& session, const SwapFile& file, bool has_least_staging,
              plan::NodeTimes& times, plan::SwapRates& rates) {
  using Clock = std::chrono::steady_clock;
  // The first write of a place in the file is slower than all later ones.
  const Clock::time_point start = Clock::now();
  session.measure(1, times);
  const std::chrono::duration<double> first = Clock::now() - start;
  const int rounds = first.count() > kLongSeconds ? 1 : kRounds;
  const double before_ms = file.counters().busy_ms;
  session.measure(rounds, times);
  const double busy_ms = (file.counters().busy_ms - before_ms) / rounds;
  if (const std::string error = file.error(); !error.empty()) throw Error("swap file", error);
  const ir::Graph& step = session.program().graph();
  const double predicted_ms =
      plan::busy_ms(step, has_least_staging ? rates.with_least_staging() : rates);
  if (predicted_ms > 0.0) rates.scale(busy_ms / predicted_ms, has_least_staging);
}

}  // namespace thimble::exec

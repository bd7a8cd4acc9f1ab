#include "plan/remat/segments.h"

#include <algorithm>
#include <numeric>

#include "plan/nth.h"

namespace thimble::plan {

Segments::Segments(const ScheduleBuilder& builder, std::vector<char> may)
    : builder_(builder),
      may_(std::move(may)),
      last_read_(builder.graph().values.size(), -1),
      made_(static_cast<size_t>(builder.loss_node()) + 1, 0),
      crossing_(made_) {
  for (int n = 0; n <= builder.loss_node(); ++n) {
    for (const int id : nth(builder.graph().nodes, n).inputs) {
      if (id >= 0) nth(last_read_, id) = n;
    }
  }
  for (size_t v = 0; v < last_read_.size(); ++v) {
    const int id = static_cast<int>(v);
    const int producer = builder.forward_producer(id);
    if (producer < 0 || !takes_memory(producer)) continue;
    nth(made_, producer) += builder.bytes(id);
    if (last_read_[v] < producer) continue;
    nth(crossing_, producer) += builder.bytes(id);
    nth(crossing_, last_read_[v]) -= builder.bytes(id);
  }
  std::partial_sum(made_.begin(), made_.end(), made_.begin());
  std::partial_sum(crossing_.begin(), crossing_.end(), crossing_.begin());
}

bool Segments::takes_memory(int node) const {
  const ScheduleBuilder::RecomputeRule& rule = builder_.rule(node);
  return rule.op != nullptr && !rule.free;
}

// The last node of a segment: near its share of all bytes, where the fewest bytes are read later.
int Segments::narrowest_end(int segment, int count) const {
  const double share = static_cast<double>(made_.back()) / count;
  int best = -1;
  for (int n = 0; n < builder_.loss_node(); ++n) {
    const double away = static_cast<double>(nth(made_, n)) / share - segment;
    if (away < -0.5 || away > 0.5) continue;
    if (best < 0 || nth(crossing_, n) < nth(crossing_, best)) best = n;
  }
  return best;
}

std::vector<Recompute> Segments::start(int count) const {
  std::vector<Recompute> recomputed(builder_.graph().nodes.size(), Recompute::no);
  for (int n = 0; n < builder_.loss_node(); ++n) {
    if (nth(may_, n) == 0) continue;
    nth(recomputed, n) = takes_memory(n) ? Recompute::once : Recompute::each;
  }
  for (int segment = 1; segment < count; ++segment) {
    const int end = narrowest_end(segment, count);
    for (size_t v = 0; v < last_read_.size(); ++v) {
      const int producer = builder_.forward_producer(static_cast<int>(v));
      if (producer < 0 || producer > end || last_read_[v] <= end) continue;
      if (takes_memory(producer)) nth(recomputed, producer) = Recompute::no;
    }
  }
  return recomputed;
}

}  // namespace thimble::plan

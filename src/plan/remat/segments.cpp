#include "plan/remat/segments.h"

#include <algorithm>
#include <numeric>

namespace thimble::plan {

Segments::Segments(const ScheduleBuilder& builder, std::vector<char> may)
    : builder_(builder),
      may_(std::move(may)),
      last_read_(builder.graph().values.size(), -1),
      made_(static_cast<size_t>(builder.loss_node()) + 1, 0),
      crossing_(made_) {
  for (int n = 0; n <= builder.loss_node(); ++n) {
    for (const int id : builder.graph().nodes[static_cast<size_t>(n)].inputs) {
      if (id >= 0) last_read_[static_cast<size_t>(id)] = n;
    }
  }
  for (size_t v = 0; v < last_read_.size(); ++v) {
    const int id = static_cast<int>(v);
    const int producer = builder.forward_producer(id);
    if (producer < 0 || !takes_memory(producer)) continue;
    made_[static_cast<size_t>(producer)] += builder.bytes(id);
    if (last_read_[v] < producer) continue;
    crossing_[static_cast<size_t>(producer)] += builder.bytes(id);
    crossing_[static_cast<size_t>(last_read_[v])] -= builder.bytes(id);
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
    const auto here = static_cast<size_t>(n);
    const double away = static_cast<double>(made_[here]) / share - segment;
    if (away < -0.5 || away > 0.5) continue;
    if (best < 0 || crossing_[here] < crossing_[static_cast<size_t>(best)]) best = n;
  }
  return best;
}

std::vector<Recompute> Segments::start(int count) const {
  std::vector<Recompute> recomputed(builder_.graph().nodes.size(), Recompute::no);
  for (int n = 0; n < builder_.loss_node(); ++n) {
    if (may_[static_cast<size_t>(n)] == 0) continue;
    recomputed[static_cast<size_t>(n)] = takes_memory(n) ? Recompute::once : Recompute::each;
  }
  for (int segment = 1; segment < count; ++segment) {
    const int end = narrowest_end(segment, count);
    for (size_t v = 0; v < last_read_.size(); ++v) {
      const int producer = builder_.forward_producer(static_cast<int>(v));
      if (producer < 0 || producer > end || last_read_[v] <= end) continue;
      if (takes_memory(producer)) recomputed[static_cast<size_t>(producer)] = Recompute::no;
    }
  }
  return recomputed;
}

}  // namespace thimble::plan

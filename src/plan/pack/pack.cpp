#include "plan/pack/pack.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <map>

#include "plan/pack/part.h"
#include "plan/pack/problem.h"

namespace thimble::plan {
namespace {

// Improves the parts until the highest one cannot get lower, or the steps are used up.
void pack_parts(std::vector<PartPacker>& parts, int64_t step_limit) {
  int64_t goal = 0;  // no part needs to be lower
  for (const PartPacker& part : parts) goal = std::max(goal, part.problem().lower_bound);
  int64_t left = step_limit;
  for (PartPacker& part : parts) {
    part.pack_greedily(goal, left / 2);
    left = std::max<int64_t>(left - part.steps(), 0);
  }
  std::vector<PartPacker*> open;
  for (PartPacker& part : parts) {
    if (part.peak() > goal) open.push_back(&part);
  }
  std::stable_sort(open.begin(), open.end(),
                   [](const PartPacker* a, const PartPacker* b) { return a->peak() > b->peak(); });
  for (size_t i = 0; i < open.size(); ++i) {
    const int64_t before = open[i]->steps();
    open[i]->search(goal, left / static_cast<int64_t>(open.size() - i));
    goal = std::max(goal, open[i]->peak());
    left = std::max<int64_t>(left - (open[i]->steps() - before), 0);
  }
}

}  // namespace

Packing pack(std::span<const Buffer> buffers, const PackOptions& options) {
  const Problems problems = make_problems(buffers);
  std::vector<PartPacker> parts(problems.parts.begin(), problems.parts.end());
  pack_parts(parts, options.steps);
  Packing packing;
  packing.offsets.assign(buffers.size(), 0);
  packing.lower_bound_bytes = largest_live_bytes(buffers);
  int64_t highest = 0;
  for (const PartPacker& part : parts) {
    highest = std::max(highest, part.peak());
    packing.steps += part.steps();
    for (size_t i = 0; i < part.offsets().size(); ++i) {
      const auto buffer = static_cast<size_t>(part.problem().items[i].buffer);
      packing.offsets[buffer] = part.offsets()[i] * problems.unit;
    }
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    packing.peak_bytes = std::max(packing.peak_bytes, packing.offsets[i] + buffers[i].size);
  }
  packing.optimal = packing.peak_bytes == packing.lower_bound_bytes ||
                    std::any_of(parts.begin(), parts.end(), [&](const PartPacker& part) {
                      return part.peak() == highest && part.optimal();
                    });
  return packing;
}

int64_t largest_live_bytes(std::span<const Buffer> buffers) {
  std::vector<std::pair<int64_t, int64_t>> changes;  // time, bytes; ends sort before starts
  for (const Buffer& buffer : buffers) {
    changes.emplace_back(buffer.lower, buffer.size);
    changes.emplace_back(buffer.upper, -buffer.size);
  }
  std::sort(changes.begin(), changes.end());
  int64_t live = 0;
  int64_t largest = 0;
  for (const auto& [time, bytes] : changes) {
    live += bytes;
    largest = std::max(largest, live);
  }
  return largest;
}

void check(std::span<const Buffer> buffers, const Packing& packing) {
  constexpr const char* kWhere = "pack";
  if (packing.offsets.size() != buffers.size()) {
    throw Error(kWhere,
                fmt::format("{} offsets for {} buffers", packing.offsets.size(), buffers.size()));
  }
  struct Event {
    int64_t time;
    bool starts;
    size_t buffer;
  };
  std::vector<Event> events;
  int64_t peak = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const int64_t offset = packing.offsets[i];
    if (offset < 0 || offset % buffers[i].alignment != 0) {
      throw Error(kWhere, fmt::format("buffer {}: offset {} is not a multiple of {}", i, offset,
                                      buffers[i].alignment));
    }
    peak = std::max(peak, offset + buffers[i].size);
    if (buffers[i].size == 0) continue;
    events.push_back({buffers[i].lower, true, i});
    events.push_back({buffers[i].upper, false, i});
  }
  if (peak != packing.peak_bytes) {
    throw Error(kWhere, fmt::format("the peak is {}, not {}", peak, packing.peak_bytes));
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    if (a.time != b.time) return a.time < b.time;
    return a.starts != b.starts ? b.starts : a.buffer < b.buffer;
  });
  // Live buffers do not overlap so far, so only neighbours need a check.
  std::map<int64_t, size_t> alive;  // by offset
  for (const Event& event : events) {
    const int64_t offset = packing.offsets[event.buffer];
    if (!event.starts) {
      alive.erase(offset);
      continue;
    }
    const auto next = alive.lower_bound(offset);
    const auto overlap = [&](size_t other) {
      throw Error(kWhere, fmt::format("buffers {} and {} are alive together and overlap", other,
                                      event.buffer));
    };
    if (next != alive.end() && next->first < offset + buffers[event.buffer].size) {
      overlap(next->second);
    }
    if (next != alive.begin()) {
      const size_t below = std::prev(next)->second;
      if (packing.offsets[below] + buffers[below].size > offset) overlap(below);
    }
    alive.emplace(offset, event.buffer);
  }
}

}  // namespace thimble::plan

#include "plan/pack/problem.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

namespace thimble::plan {
namespace {

[[noreturn]] void reject(size_t buffer, const std::string& what) {
  throw Error("pack", fmt::format("buffer {}: {}", buffer, what));
}

void validate(std::span<const Buffer> buffers) {
  if (buffers.size() > static_cast<size_t>(std::numeric_limits<int>::max() / 4)) {
    throw Error("pack", "too many buffers");
  }
  int64_t room = kLargestValue;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Buffer& b = buffers[i];
    if (b.lower < -kLargestValue || b.upper > kLargestValue) reject(i, "its times exceed 61 bits");
    if (b.lower >= b.upper) {
      reject(i, fmt::format("lower {} is not below upper {}", b.lower, b.upper));
    }
    if (b.size < 0) reject(i, fmt::format("its size {} is negative", b.size));
    if (b.alignment < 1 || b.alignment > kLargestValue) {
      reject(i, fmt::format("its alignment {} is not in 1 ... 2^61", b.alignment));
    }
    // The worst packing stacks all buffers with their padding.
    if (b.size > room || b.alignment > room - b.size) {
      reject(i, "the sum of sizes up to here does not fit 61 bits");
    }
    room -= b.size + b.alignment;
  }
}

// A section ends where a buffer starts after another has ended.
Problem make_part(std::span<const Buffer> buffers, std::span<const int> members, int64_t unit) {
  struct Event {
    int64_t time;
    bool starts;  // ends come first: lifetimes are half-open
    int item;
  };
  Problem part;
  std::vector<Event> events;
  for (int member : members) {
    const Buffer& b = buffers[static_cast<size_t>(member)];
    const int item = static_cast<int>(part.items.size());
    // The unit is a multiple of the alignments' common divisor and divides all larger ones.
    const int64_t alignment = std::max<int64_t>(b.alignment / unit, 1);
    part.items.push_back({0, 0, rounded_up(b.size, unit) / unit, alignment, member});
    part.items.back().key(Key::duration) = static_cast<double>(b.upper - b.lower);
    events.push_back({b.lower, true, item});
    events.push_back({b.upper, false, item});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    if (a.time != b.time) return a.time < b.time;
    return a.starts != b.starts ? b.starts : a.item < b.item;
  });
  int section = 0;
  bool ended = false;
  int starts = 0, ends = 0;  // events so far
  for (const Event& event : events) {
    Item& item = part.items[static_cast<size_t>(event.item)];
    if (event.starts) {
      section += ended ? 1 : 0;
      ended = false;
      item.first = section;
      item.key(Key::overlaps) = -ends;
      ++starts;
    } else {
      ended = true;
      item.last = section + 1;
      item.key(Key::overlaps) += starts;
      ++ends;
    }
  }
  std::sort(part.items.begin(), part.items.end(), [](const Item& a, const Item& b) {
    if (a.first != b.first) return a.first < b.first;
    return a.last != b.last ? a.last < b.last : a.buffer < b.buffer;
  });
  part.load.assign(static_cast<size_t>(section) + 2, 0);
  for (const Item& item : part.items) {
    part.load[static_cast<size_t>(item.first)] += item.size;
    part.load[static_cast<size_t>(item.last)] -= item.size;
  }
  std::partial_sum(part.load.begin(), part.load.end(), part.load.begin());
  part.load.resize(static_cast<size_t>(section) + 1);
  part.lower_bound = *std::max_element(part.load.begin(), part.load.end());
  for (Item& item : part.items) {
    const auto first = part.load.begin() + item.first, last = part.load.begin() + item.last;
    item.key(Key::load) = static_cast<double>(*std::max_element(first, last));
    item.key(Key::load_sum) = std::accumulate(first, last, 0.0);
    item.key(Key::size) = static_cast<double>(item.size);
    item.key(Key::area) = item.key(Key::duration) * item.key(Key::size);
  }
  return part;
}

}  // namespace

Problems make_problems(std::span<const Buffer> buffers) {
  validate(buffers);
  std::vector<int> order;
  int64_t divisor = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].size == 0) continue;
    order.push_back(static_cast<int>(i));
    divisor = std::gcd(divisor, buffers[i].alignment);
  }
  const int64_t alignment_unit = std::max<int64_t>(divisor, 1);
  int64_t size_unit = 0;
  Problems problems;
  if (order.empty()) return problems;
  // Offsets are sums of sizes rounded to the alignment, so a divisor of all these divides them.
  for (int i : order) {
    const Buffer& b = buffers[static_cast<size_t>(i)];
    size_unit = std::gcd(size_unit, rounded_up(b.size, alignment_unit));
    size_unit = std::gcd(size_unit, b.alignment == alignment_unit ? 0 : b.alignment);
  }
  problems.unit = size_unit;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return buffers[static_cast<size_t>(a)].lower < buffers[static_cast<size_t>(b)].lower;
  });
  size_t begin = 0;
  int64_t end_of_time = buffers[static_cast<size_t>(order[0])].upper;
  for (size_t i = 1; i <= order.size(); ++i) {
    if (i == order.size() || buffers[static_cast<size_t>(order[i])].lower >= end_of_time) {
      problems.parts.push_back(
          make_part(buffers, std::span(order).subspan(begin, i - begin), problems.unit));
      begin = i;
    }
    if (i < order.size()) {
      end_of_time = std::max(end_of_time, buffers[static_cast<size_t>(order[i])].upper);
    }
  }
  return problems;
}

}  // namespace thimble::plan

// Runs programs of files that anybody may have made, if that takes little time and memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "exec/memory.h"
#include "exec/program.h"
#include "parallel/thread_pool.h"
#include "program/program.h"

namespace thimble::test {

// The largest number among attributes: loops of kernels may count to it.
class LargestNumber final : public ir::FieldVisitor {
 public:
  int64_t value = 0;

  void field(const char* /*name*/, bool& /*value*/, const char* /*doc*/) override {}
  void field(const char* /*name*/, int64_t& v, const char* /*doc*/) override { add(v); }
  void field(const char* /*name*/, double& /*value*/, const char* /*doc*/) override {}
  void field(const char* /*name*/, Pair& v, const char* /*doc*/) override {
    add(v.h);
    add(v.w);
  }
  void field(const char* /*name*/, Padding& v, const char* /*doc*/) override {
    for (const int64_t side : {v.top, v.bottom, v.left, v.right}) add(side);
  }
  void field(const char* /*name*/, std::vector<int64_t>& v, const char* /*doc*/) override {
    for (const int64_t number : v) {
      if (number != ir::kToEnd) add(number);
    }
  }
  void field(const char* /*name*/, Shape& v, const char* /*doc*/) override {
    for (const int64_t dim : v.dims()) add(dim);
  }
  void field(const char* /*name*/, DType& /*value*/, const char* /*doc*/) override {}
  void choice(const char* /*name*/, int& /*value*/, std::span<const char* const> /*names*/,
              const char* /*doc*/) override {}

 private:
  void add(int64_t number) { value = std::max(value, number < 0 ? -number : number); }
};

// Whether no kernel has much to do.
inline bool is_small(const program::Program& program) {
  constexpr int64_t kMostBytes = int64_t{1} << 22;
  constexpr int64_t kMostElements = int64_t{1} << 16;
  constexpr int64_t kMostProducts = int64_t{1} << 32;
  constexpr int64_t kMostNumber = 1 << 13;
  constexpr int kMostThreads = 4;
  if (program.arena_bytes > kMostBytes || program.threads > kMostThreads) return false;
  int64_t stored = 0;
  for (const program::Stored& each : program.stored) {
    stored += size_bytes(each.type.dtype, each.type.shape);
    if (stored > kMostBytes) return false;
  }
  for (const program::Call& call : program.calls) {
    int64_t products = 1;
    for (const std::vector<int>* const ids : {&call.inputs, &call.outputs}) {
      int64_t largest = 1;
      for (const int id : *ids) {
        if (id >= 0) largest = std::max(largest, program.tensor(id).type.shape.elements());
      }
      if (largest > kMostElements) return false;
      products *= largest;
    }
    LargestNumber number;
    call.attrs.visit(number);
    if (call.tiled) call.tiled->attrs.visit(number);
    if (products > kMostProducts || number.value > kMostNumber) return false;
  }
  return true;
}

// Runs one step of a small program without a swap file, on zeros, in memory of just its size: a
// sanitizer sees every access beside it. False if it did not run.
inline bool run_bounded(const program::Program& program) {
  if (!program.slot_bytes.empty() || program.transfers() > 0 || !is_small(program)) return false;
  parallel::ThreadPool pool(program.threads);
  exec::Store store(std::vector<const program::Program*>{&program});
  exec::Block arena(program.arena_bytes);
  const std::span<std::byte> bytes(arena.data(), static_cast<size_t>(arena.bytes()));
  exec::Session session(program, store, bytes, pool);
  static_cast<void>(session.run());
  static_cast<void>(session.first_non_finite());
  return true;
}

}  // namespace thimble::test

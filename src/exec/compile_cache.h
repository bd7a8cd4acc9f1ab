// Cache of compiled steps, keyed by the content they were compiled from.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "exec/memory.h"
#include "ir/graph.h"
#include "plan/budget/search.h"

namespace thimble::exec {

struct CompileOptions;

// SHA-256 of everything that a graph and the options contain, except the speed of the swap file.
// Equal contents have equal hashes, however they were built.
[[nodiscard]] std::string content_hash(const ir::Graph& graph, const CompileOptions& options);

// The result of compiling. The graph's constants have no data here: their contents are in
// `constants`.
struct Compiled {
  plan::Fitted step;
  std::vector<std::shared_ptr<const Block>>
      constants;  // by value; null where the value is no constant
};

// Estimated memory of a compiled step in bytes.
[[nodiscard]] int64_t memory_bytes(const Compiled& compiled);

// Compiled steps by key. A step is found as long as anyone holds it. The cache itself holds the
// steps used last, as many as fit into its bound. Thread-safe: if two threads miss the same key at
// once, both compile.
class CompileCache {
 public:
  explicit CompileCache(int64_t most_bytes) : most_bytes_(most_bytes) {}

  // Returns the speed of the swap file, which a plan may or may not need. Empty: nominal rates.
  using Rates = std::function<plan::SwapRates()>;
  using Make = std::function<Compiled(const Rates& rates)>;
  // The step compiled under that key, if its plan did not ask for rates or asked and got the same
  // ones; else the result of make, which is cached.
  [[nodiscard]] std::shared_ptr<const Compiled> get(const std::string& key, const Rates& rates,
                                                    const Make& make);

  // Drops the cache's own reference: the step is found only while someone else holds it.
  void let_go(const Compiled& compiled);

  struct Counts {
    int64_t hits = 0;
    int64_t misses = 0;
    int64_t held_bytes = 0;  // by the cache; programs may share some of it
  };
  [[nodiscard]] Counts counts() const;

 private:
  struct Known {
    std::string key;
    std::optional<plan::SwapRates> rates;  // of the swap file; none: the plan did not ask
    std::weak_ptr<const Compiled> step;
  };
  struct Held {
    std::shared_ptr<const Compiled> step;
    int64_t bytes;
  };
  [[nodiscard]] std::shared_ptr<const Compiled> find(const std::string& key, const Known* asked);
  [[nodiscard]] bool must_ask(const std::string& key) const;
  void hold(const std::shared_ptr<const Compiled>& step);

  mutable std::mutex mutex_;
  std::vector<Known> known_;
  std::deque<Held> held_;  // most recently used in front
  int64_t most_bytes_;
  Counts counts_;
};

// The cache of the process. It holds at most 2 MiB: some dozens of small models' steps, or the last
// few steps of a large one.
[[nodiscard]] CompileCache& compile_cache();

}  // namespace thimble::exec

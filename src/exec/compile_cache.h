// Compiled steps by the content of what they were compiled from.
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

// SHA-256 of all that a graph and the options say, but for the speed of the swap file: equal for
// equal contents, whatever they were built by.
[[nodiscard]] std::string content_hash(const ir::Graph& graph, const CompileOptions& options);

// What compiling makes. The graph's constants have no data: their contents stand once, beside it.
struct Compiled {
  plan::Fitted step;
  std::vector<std::shared_ptr<const Block>> constants;  // by value; null where it is no constant
};

// Memory that a compiled step takes, about.
[[nodiscard]] int64_t memory_bytes(const Compiled& compiled);

// Compiled steps by a key. One is found as long as anybody holds it, and the cache itself holds the
// last ones, as many as fit into its bound. Thread-safe: what two threads miss at once both make.
class CompileCache {
 public:
  explicit CompileCache(int64_t most_bytes) : most_bytes_(most_bytes) {}

  // The speed of the swap file, which a plan may ask for or not. Empty: nominal.
  using Rates = std::function<plan::SwapRates()>;
  using Make = std::function<Compiled(const Rates& rates)>;
  // What was made under that key, at the same speed if it asked for it; else what make returns.
  [[nodiscard]] std::shared_ptr<const Compiled> get(const std::string& key, const Rates& rates,
                                                    const Make& make);

  // Holds a step no longer: it is found only while somebody else holds it.
  void let_go(const Compiled& compiled);

  struct Counts {
    int64_t hits = 0;
    int64_t misses = 0;
    int64_t held_bytes = 0;  // by the cache; some of it may be in use by programs as well
  };
  [[nodiscard]] Counts counts() const;

 private:
  struct Known {
    std::string key;
    std::optional<plan::SwapRates> rates;  // of the swap file; none: it did not ask for them
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
  std::deque<Held> held_;  // the last used one in front
  int64_t most_bytes_;
  Counts counts_;
};

// That of the process. It holds 2 MiB at most: some dozens of small models' steps, or the last few
// of a large one.
[[nodiscard]] CompileCache& compile_cache();

}  // namespace thimble::exec

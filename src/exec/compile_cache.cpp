#include "exec/compile_cache.h"

#include <algorithm>
#include <type_traits>

#include "exec/program.h"
#include "exec/sha256.h"

namespace thimble::exec {
namespace {

constexpr int64_t kMostBytes = int64_t{2} << 20;

// Feeds a hash with values and their lengths, so that different contents never look the same.
class Content {
 public:
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void add(T value) {
    hash_.update(std::as_bytes(std::span(&value, 1)));
  }
  void add(const std::string& text) { add(std::span(text.data(), text.size())); }
  void add(const std::set<std::string>& names) {
    add(names.size());
    for (const std::string& name : names) add(name);
  }
  template <class T>
  void add(std::span<T> values) {
    add(values.size());
    hash_.update(std::as_bytes(values));
  }
  void add(const std::vector<std::pair<std::string, int>>& named) {
    add(named.size());
    for (const auto& [name, id] : named) {
      add(name);
      add(id);
    }
  }
  void add(const ir::ValueData& data) {
    add(data.name);
    add(data.type.dtype);
    add(std::span(data.type.shape.dims()));
    add(static_cast<bool>(data.type.quantization));
    if (const Quantization* const q = data.type.quantization.get()) {
      add(std::span(q->scales));
      add(std::span(q->zero_points));
      add(q->axis.value_or(-1));
    }
    add(data.role);
    add(data.producer);
    add(data.init->kind);
    add(data.init->a);
    add(data.init->b);
    add(data.init->fan);
    add(data.init->zero_row);
    add(data.trainable);
    add(data.sums_gradients);
    add(data.average_of);
    add(data.storage);
    add(data.recomputed);
    add(data.fetched);
    add(data.data->dtype());
    add(data.data->bytes());
  }
  void add(const ir::Node& node) {
    add(std::string(node.op->name));
    add(node.attrs ? node.attrs.full_text() : std::string());
    add(std::span(node.inputs));
    add(std::span(node.outputs));
    add(node.layer);
    add(static_cast<bool>(node.tiled));
    if (!node.tiled) return;
    add(std::string(node.tiled->op->name));
    add(node.tiled->attrs ? node.tiled->attrs.full_text() : std::string());
    add(node.tiled->rows);
  }
  [[nodiscard]] std::string hex() const { return hash_.hex(); }

 private:
  Sha256 hash_;
};

int64_t memory_bytes(const std::string& text) {
  return text.capacity() < sizeof(std::string) ? 0 : static_cast<int64_t>(text.capacity());
}

template <class T>
int64_t memory_bytes(const std::vector<T>& list) {
  return static_cast<int64_t>(list.capacity() * sizeof(T));
}

void add_graph(Content& content, const ir::Graph& graph) {
  content.add(graph.values.size());
  for (const ir::ValueData& data : graph.values) content.add(data);
  content.add(graph.nodes.size());
  for (const ir::Node& node : graph.nodes) content.add(node);
  content.add(graph.layers.size());
  for (const ir::Layer& layer : graph.layers) {
    content.add(layer.name);
    content.add(layer.type);
  }
  content.add(graph.loss.value_or(-1));
  content.add(graph.outputs);
  content.add(graph.metrics);
}

// Every option is named: a new option that is forgotten here does not compile.
void add_options(Content& content, const CompileOptions& options) {
  const auto& [threads, fast, optimize, prepared, budget] = options;
  content.add(threads);
  content.add(fast);
  content.add(optimize);
  content.add(prepared);
  const auto& [bytes, swap, smallest, device, staging, in_file, times, saved, parts, explain,
               memo] = budget;
  static_cast<void>(memo);  // does not change the result
  content.add(bytes);
  content.add(swap);
  content.add(smallest);
  content.add(static_cast<bool>(device));
  content.add(staging);
  content.add(in_file.has_value());
  content.add(in_file.value_or(std::set<std::string>()));
  content.add(times ? times->text() : std::string());
  const auto& [store, store_attrs, load] = saved;
  content.add(store == nullptr ? std::string() : store->name);
  content.add(store_attrs ? store_attrs.full_text() : std::string());
  content.add(load == nullptr ? std::string() : load->name);
  content.add(parts);
  content.add(explain);
}

}  // namespace

std::string content_hash(const ir::Graph& graph, const CompileOptions& options) {
  Content content;
  add_graph(content, graph);
  add_options(content, options);
  return content.hex();
}

int64_t memory_bytes(const Compiled& compiled) {
  const plan::Fitted& step = compiled.step;
  constexpr int64_t kAttributes =
      64;  // estimated bytes of a node's attributes; often shared with other graphs
  int64_t bytes = 0;
  for (const ir::ValueData& data : step.graph.values) {
    bytes += static_cast<int64_t>(sizeof(data)) + memory_bytes(*data.name) +
             memory_bytes(data.type.shape.dims()) + static_cast<int64_t>(data.data->bytes().size());
  }
  for (const ir::Node& node : step.graph.nodes) {
    bytes += static_cast<int64_t>(sizeof(node)) + memory_bytes(node.inputs) +
             memory_bytes(node.outputs) + kAttributes;
  }
  for (const PlanBuffer& buffer : step.arena.plan.buffers) {
    bytes += static_cast<int64_t>(sizeof(buffer)) + memory_bytes(buffer.name) +
             memory_bytes(buffer.role) + memory_bytes(buffer.shape.dims());
  }
  for (const PlanStep& each : step.arena.plan.steps) {
    bytes += static_cast<int64_t>(sizeof(each)) + memory_bytes(each.op) + memory_bytes(each.layer);
  }
  for (const std::shared_ptr<const Block>& constant : compiled.constants) {
    bytes += static_cast<int64_t>(sizeof(constant)) + (constant ? constant->bytes() : 0);
  }
  return bytes + memory_bytes(step.arena.buffer_of_value) +
         memory_bytes(step.arena.workspace_of_node) + memory_bytes(step.slot_bytes);
}

// asked: the plan's request for the speed of the swap file, with the answer; null: none yet.
std::shared_ptr<const Compiled> CompileCache::find(const std::string& key, const Known* asked) {
  const auto dead = [](const Known& known) { return known.step.expired(); };
  known_.erase(std::remove_if(known_.begin(), known_.end(), dead), known_.end());
  for (const Known& known : known_) {
    const bool same =
        known.key == key && (!known.rates || (asked != nullptr && asked->rates == known.rates));
    if (same) return known.step.lock();
  }
  return nullptr;
}

bool CompileCache::must_ask(const std::string& key) const {
  return std::any_of(known_.begin(), known_.end(),
                     [&](const Known& known) { return known.rates && known.key == key; });
}

// Puts one in front and drops the last ones while the total exceeds the bound.
void CompileCache::hold(const std::shared_ptr<const Compiled>& step) {
  const auto same =
      std::find_if(held_.begin(), held_.end(), [&](const Held& held) { return held.step == step; });
  if (same != held_.end()) {
    std::rotate(held_.begin(), same, same + 1);
    return;
  }
  const int64_t bytes = memory_bytes(*step);
  if (bytes > most_bytes_) return;
  held_.push_front({step, bytes});
  counts_.held_bytes += bytes;
  while (counts_.held_bytes > most_bytes_) {
    counts_.held_bytes -= held_.back().bytes;
    held_.pop_back();
  }
}

std::shared_ptr<const Compiled> CompileCache::get(const std::string& key, const Rates& rates,
                                                  const Make& make) {
  Known known{key, std::nullopt, {}};
  // Asked at most once: measuring the swap file may take long or fail.
  const Rates ask = [&] {
    if (!known.rates) known.rates = rates();
    return *known.rates;
  };
  const auto found = [&](const Known* asked) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const Compiled> step = find(key, asked);
    if (step) {
      ++counts_.hits;
      hold(step);
    }
    return step;
  };
  if (auto step = found(nullptr)) return step;
  bool asks = false;
  {
    const std::lock_guard lock(mutex_);
    asks = must_ask(key);
  }
  if (asks && rates) {
    static_cast<void>(ask());
    if (auto step = found(&known)) return step;
  }
  auto step = std::make_shared<const Compiled>(make(rates ? ask : Rates()));
  known.step = step;
  const std::lock_guard lock(mutex_);
  ++counts_.misses;
  known_.push_back(std::move(known));
  hold(step);
  return step;
}

void CompileCache::let_go(const Compiled& compiled) {
  const std::lock_guard lock(mutex_);
  const auto same = std::find_if(held_.begin(), held_.end(),
                                 [&](const Held& held) { return held.step.get() == &compiled; });
  if (same == held_.end()) return;
  counts_.held_bytes -= same->bytes;
  held_.erase(same);
}

CompileCache::Counts CompileCache::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

CompileCache& compile_cache() {
  static CompileCache cache(kMostBytes);
  return cache;
}

}  // namespace thimble::exec

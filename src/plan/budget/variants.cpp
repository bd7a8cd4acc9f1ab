#include "plan/budget/variants.h"

#include <thimble/error.h>

#include <algorithm>
#include <utility>

#include "plan/nth.h"
#include "plan/order/order.h"
#include "plan/remat/storage.h"
#include "plan/update/tiled_update.h"
#include "plan/work.h"

namespace thimble::plan {
namespace {

// Share of a step's work that recomputed products may add if there is no budget.
constexpr double kSlack = 0.08;

// Every level takes a search, so long steps have few.
constexpr int kLevels = 10;
constexpr int kLevelsOfLongSteps = 3;
constexpr size_t kLongStep = 1000;  // nodes

// The variant under a key, made when it is first asked for.
template <typename Key, typename Make>
const Variant& remembered(std::map<Key, Variant>& known, Key key, const Make& make) {
  const auto found = known.find(key);
  return found != known.end() ? found->second : known.emplace(key, make()).first->second;
}

}  // namespace

Variants::Variants(const ir::Graph& graph, const ArenaOptions& options,
                   const ActivationStorage& saved)
    : options_(options) {
  if (saved.store == nullptr) {
    orders_ = orders_of(graph, options);
  } else {
    ArenaOptions same = options;
    same.threads = 1;  // workspaces, and so the peak, depend on the number of threads
    exact_ = std::make_unique<Variants>(graph, same, ActivationStorage{});
    orders_ = orders_of(store_in_16_bits(exact_->cheap().graph, saved, same), options);
  }
  std::vector<ir::Graph> tiled;
  for (const ir::Graph& order : orders_) tiled.push_back(tile_updates(order, options));
  bases_[true] = keep_bit_masks(tiled, options);
  tiled_ = std::move(tiled.front());
}

const std::vector<ir::Graph>& Variants::base(bool tiled) {
  std::vector<ir::Graph>& base = bases_[tiled];
  if (base.empty()) base = keep_bit_masks(orders_, options_);
  return base;
}

bool Variants::has_tiled_updates() const {
  return tiled_.nodes.size() != orders_.front().nodes.size();
}

Variant Variants::finished(StepDecisions decisions, ir::Graph graph) const {
  decisions.bit_masks = stored_as(graph, ir::Storage::bits);
  decisions.stored_in_16_bits = stored_as(graph, ir::Storage::bits16);
  const Plan plan = plan_arena(graph, options_).plan;
  return {std::move(decisions), std::move(graph), counted_bytes(plan), plan.arena_bytes};
}

Variant Variants::found(bool tiled, const RecomputeOptions& options) {
  const std::vector<ir::Graph>& orders = base(tiled);
  Recomputation best = find_recomputation(orders, options);
  StepDecisions decisions;
  decisions.tiled_updates = tiled;
  decisions.order = best.order;
  const ir::Graph& order = nth(orders, best.order);
  for (size_t n = 0; n < best.nodes.size(); ++n) {
    if (best.nodes[n] == Recompute::no) continue;
    const int first = order.nodes[n].outputs.front();
    decisions.recomputed.push_back(
        {static_cast<int>(n), ir::label(order.data(first)), best.nodes[n]});
  }
  return finished(std::move(decisions), std::move(best.graph));
}

Variant Variants::apply(const StepDecisions& decisions) {
  const std::vector<ir::Graph>& orders = base(decisions.tiled_updates);
  const auto refuse = [] {
    throw Error("decisions", "they are those of another step, or of other options");
  };
  if (decisions.order < 0 || static_cast<size_t>(decisions.order) >= orders.size()) refuse();
  const ir::Graph& order = nth(orders, decisions.order);
  std::vector<Recompute> nodes(order.nodes.size(), Recompute::no);
  for (const StepDecisions::Recomputed& each : decisions.recomputed) {
    const auto n = static_cast<size_t>(each.node);
    if (each.node < 0 || n >= nodes.size()) refuse();
    if (ir::label(order.data(order.nodes[n].outputs.front())) != each.name) refuse();
    nodes[n] = each.how;
  }
  Variant variant = finished(decisions, apply_recomputation(order, nodes, options_));
  if (variant.decisions != decisions) refuse();
  return variant;
}

const Variant& Variants::cheap(bool tiled) {
  return remembered(cheap_, tiled, [&] { return found(tiled, {.arena = options_}); });
}

const Variant& Variants::smallest(bool tiled) {
  return remembered(smallest_, tiled, [&] {
    Variant least = found(tiled, {.arena = options_, .any_op = true});
    return cheap(tiled).arena_bytes <= least.arena_bytes ? cheap(tiled) : least;
  });
}

const Variant& Variants::balanced() {
  if (!balanced_) {
    balanced_ = cheap();
    if (!has_backward_part(balanced_->graph)) return *balanced_;
    Variant more = found(true, {.arena = options_, .slack = kSlack});
    const double work = work_of(balanced_->graph);
    const double more_work = work_of(more.graph);
    // The comparison includes what follows the choice: another order, and tiled updates.
    if (more_work <= (1.0 + kSlack) * work && static_cast<double>(more.bytes) * more_work <
                                                  static_cast<double>(balanced_->bytes) * work) {
      balanced_ = std::move(more);
    }
  }
  return *balanced_;
}

int Variants::levels() const {
  return ordered().nodes.size() > kLongStep ? kLevelsOfLongSteps : kLevels;
}

int64_t Variants::level_arena_bytes(int number) {
  const int64_t most = cheap().arena_bytes;
  int64_t least = smallest(true).arena_bytes;
  if (has_tiled_updates()) least = std::min(least, smallest(false).arena_bytes);
  // The last bytes cost most, so levels are closer together where they are smaller.
  const double share = static_cast<double>(number) / levels();
  return least + static_cast<int64_t>(share * share * static_cast<double>(most - least));
}

const Variant& Variants::level(int number) {
  return remembered(levels_, number, [&] {
    const int64_t target = level_arena_bytes(number);
    const bool tiled = !has_tiled_updates() || target >= smallest(true).arena_bytes;
    return found(tiled, {.arena = options_, .target_bytes = target, .any_op = true});
  });
}

}  // namespace thimble::plan

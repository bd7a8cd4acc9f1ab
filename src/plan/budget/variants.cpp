#include "plan/budget/variants.h"

#include "plan/order/order.h"
#include "plan/remat/bit_masks.h"
#include "plan/update/immediate_update.h"

namespace thimble::plan {
namespace {

// Threads change what workspaces take, and so when a step is fullest.
ArenaOptions of_one_thread(ArenaOptions options) {
  options.threads = 1;
  return options;
}

}  // namespace

Variants::Variants(const ir::Graph& graph, const ArenaOptions& options, const HalfStorage& saved)
    : options_(options) {
  if (saved.store == nullptr) {
    orders_ = orders_of(graph, options);
  } else {
    const ArenaOptions same = of_one_thread(options);
    exact_ = std::make_unique<Variants>(graph, same, HalfStorage{});
    orders_ = orders_of(store_halves(exact_->in_parts_first().light(), saved, same), options);
  }
  std::vector<ir::Graph> in_parts;
  for (const ir::Graph& order : orders_) in_parts.push_back(update_in_parts(order, options));
  parts_.emplace(keep_masks(in_parts, options), options);
  in_parts_ = std::move(in_parts.front());
}

ArenaFitter& Variants::whole_first() {
  if (!whole_) whole_.emplace(keep_masks(orders_, options_), options_);
  return *whole_;
}

}  // namespace thimble::plan

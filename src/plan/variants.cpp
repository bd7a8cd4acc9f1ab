#include "plan/variants.h"

#include "plan/immediate_update.h"
#include "plan/masks.h"
#include "plan/order.h"

namespace thimble::plan {

const ir::Graph& Variant::light() {
  if (saved_.store == nullptr) return fitter_.light();
  if (!light_) light_ = store_halves(fitter_.light(), saved_, fitter_.options());
  return *light_;
}

Variants::Variants(const ir::Graph& graph, const ArenaOptions& options, const HalfStorage& saved)
    : options_(options), saved_(saved), orders_(orders_of(graph, options)) {
  std::vector<ir::Graph> in_parts;
  for (const ir::Graph& order : orders_) in_parts.push_back(update_in_parts(order, options));
  parts_.emplace(keep_masks(in_parts, options), options, saved);
  in_parts_ = std::move(in_parts.front());
}

Variant& Variants::whole_first() {
  if (!whole_) whole_.emplace(keep_masks(orders_, options_), options_, saved_);
  return *whole_;
}

}  // namespace thimble::plan

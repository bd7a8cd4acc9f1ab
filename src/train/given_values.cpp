#include "train/given_values.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <cstring>
#include <set>

namespace thimble::train {
namespace {

bool takes_values(const ir::ValueData& data) {
  return data.producer < 0 && (data.role == ir::Role::parameter || data.role == ir::Role::state);
}

}  // namespace

GivenValues::GivenValues(ir::Graph& graph) {
  for (ir::ValueData& data : graph.values) {
    if (!takes_values(data) || data.data->elements() == 0) continue;
    values_.emplace_back(*data.name, *data.data);
    data.data = {};
  }
}

void GivenValues::write_to(exec::Store& store) const {
  for (const auto& [name, values] : values_) {
    const exec::Store::Entry* const entry = store.find(name);
    if (entry == nullptr) continue;  // nothing of what was compiled reads it
    store.overwrite(*entry, [&values = values](std::span<std::byte> to) {
      std::memcpy(to.data(), values.bytes().data(), to.size());
    });
  }
}

void GivenValues::require_all(const ir::Graph& graph) const {
  std::set<std::string_view> names;
  for (const auto& [name, values] : values_) names.insert(name);
  for (const ir::ValueData& data : graph.values) {
    if (!takes_values(data) || data.type.shape.elements() == 0 || names.count(*data.name) > 0) {
      continue;
    }
    throw Error(*data.name,
                "the graph has no values for it; load_model gives those of a model "
                "file, load_weights those of a checkpoint");
  }
}

}  // namespace thimble::train

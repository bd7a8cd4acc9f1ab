#include "data_source.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "console.h"
#include "data/file.h"
#include "ir/graph.h"

namespace thimble::cli {
namespace {

constexpr const char* kDataVariable = "THIMBLE_DATA";

data::Dataset limited(const data::Dataset& dataset, int64_t limit) {
  return limit > 0 ? dataset.take(limit) : dataset;
}

}  // namespace

DataSource::DataSource(const Model& model, const DataOptions& options)
    : model_(model), options_(options), path_(options.path) {
  const char* const named = std::getenv(kDataVariable);
  if (!path_.empty() || named == nullptr) return;
  path_ = named;
  from_environment_ = !path_.empty();
}

data::Dataset DataSource::train() {
  const data::Dataset all = load(data::Split::train);
  data::Dataset taken = limited(all, options_.limit_train);
  left_out_training_ = taken.size() < all.size();
  return taken;
}

data::Dataset DataSource::test() { return limited(load(data::Split::test), options_.limit_test); }

const char* DataSource::name() const {
  if (model_.recipe() == nullptr || !of_recipe_) return path_.c_str();
  return path_.empty() ? model_.recipe()->built_in_name : model_.recipe()->real_name;
}

data::Dataset DataSource::at_path(data::Split split) const {
  const auto open = [&] {
    data::OpenOptions options = options_.open;
    options.split = split;
    try {
      data::Dataset found = data::open(path_, model_.graph(), options);
      of_recipe_ = false;
      return found;
    } catch (const data::NotFound&) {
      throw;
    } catch (const Error& error) {
      if (model_.graph().ir().loss) throw;
      throw Error(error.where(), fmt::format("{}. The model has no loss, and so no label; {}",
                                             error.message(), loss_hint(model_)));
    }
  };
  const Recipe* const recipe = model_.recipe();
  if (recipe == nullptr) return open();
  // Files of arrays first, because a recipe of texts reads any other file as text.
  for (const char* const ending : {".npz", ".npy", ".safetensors"}) {
    if (std::string_view(path_).ends_with(ending)) return open();
  }
  try {
    return recipe->data(path_, split);
  } catch (const data::NotFound&) {
    if (from_environment_ || path_.empty()) throw;
    try {
      return open();
    } catch (const data::NotFound&) {
    }
    throw;  // what the recipe looks for
  }
}

bool DataSource::has_none() const {
  if (model_.recipe() != nullptr || (!path_.empty() && !from_environment_)) return false;
  return path_.empty() || (!has(data::Split::train) && !has(data::Split::test));
}

bool DataSource::has(data::Split split) const {
  try {
    static_cast<void>(at_path(split));
  } catch (const data::NotFound&) {
    return false;
  } catch (const Error&) {
    // Data for recipes do not fit most other models.
    return model_.recipe() != nullptr || !from_environment_;
  }
  return true;
}

data::Dataset DataSource::load(data::Split split) {
  const Recipe* const recipe = model_.recipe();
  if (has_none()) {
    throw Error("--data", fmt::format("is missing: the graph of {} is that of no recipe, which "
                                      "would have data of its own; name the samples with --data",
                                      model_.file()));
  }
  try {
    return at_path(split);
  } catch (const data::NotFound& error) {
    if (recipe == nullptr) throw;
    // One of the two data sets is there and the other is missing.
    const bool lacking = from_environment_ && !has(data::Split::train) && !has(data::Split::test);
    if (!lacking) {
      throw Error(error.where(),
                  fmt::format("{}; name other data with --data, or give neither it "
                              "nor {} to use the {}",
                              error.message(), kDataVariable, recipe->built_in_name));
    }
  }
  note(fmt::format("{}={} has no data for {}; the {} are taken", kDataVariable, path_,
                   model_.name(), recipe->built_in_name));
  path_.clear();
  from_environment_ = false;
  return recipe->data(path_, split);
}

}  // namespace thimble::cli

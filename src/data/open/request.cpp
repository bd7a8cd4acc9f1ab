#include "data/open/request.h"

#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace thimble::data {
namespace {

// An array's name without the part it is named for: "x_train" is x of the part train.
struct PartName {
  std::string base;
  std::string part;  // empty: none
};

PartName part_name(const std::string& name) {
  std::vector<std::string_view> parts(std::begin(kTestParts), std::end(kTestParts));
  parts.emplace_back("train");
  const std::string_view text = name;
  for (const std::string_view part : parts) {
    if (text.size() < part.size() + 2) continue;
    if (text.ends_with(part) && text[text.size() - part.size() - 1] == '_') {
      return {name.substr(0, text.size() - part.size() - 1), std::string(part)};
    }
    if (text.starts_with(part) && text[part.size()] == '_') {
      return {name.substr(part.size() + 1), std::string(part)};
    }
  }
  return {name, {}};
}

}  // namespace

void require_split(const std::string& path) {
  throw Error(path,
              "has a training and a test part; say by OpenOptions::split which is meant, or "
              "name the path of one of them");
}

ArraysOfPart arrays_of_part(const std::string& path, std::vector<NamedArray> arrays,
                            std::optional<Split> split) {
  std::vector<PartName> names;
  for (const NamedArray& array : arrays) names.push_back(part_name(array.name));
  const auto has = [&](std::string_view part) {
    return std::any_of(names.begin(), names.end(),
                       [&](const PartName& name) { return name.part == part; });
  };
  std::string_view wanted = "train";
  const auto test = std::find_if(std::begin(kTestParts), std::end(kTestParts), has);
  if (!has("train") || test == std::end(kTestParts)) return {std::move(arrays), false};
  if (!split) require_split(path);
  if (*split == Split::test) wanted = *test;
  ArraysOfPart found{{}, true};
  for (size_t a = 0; a < arrays.size(); ++a) {
    if (names[a].part != wanted) continue;
    found.arrays.push_back(std::move(arrays[a]));
    found.arrays.back().name = names[a].base;
  }
  return found;
}

const Field& only_input(const std::string& path, const OpenRequest& request, const char* what) {
  const Field* found = nullptr;
  for (const Field& field : request.wanted) {
    if (field.is_label) continue;
    if (found != nullptr) {
      throw Error(path, fmt::format("holds {}, which feed one input; the model has \"{}\" and "
                                    "\"{}\": give it arrays of these names, for example as .npz",
                                    what, found->name, field.name));
    }
    found = &field;
  }
  if (found == nullptr) {
    throw Error(path, fmt::format("holds {}, but the model has no input to feed", what));
  }
  return *found;
}

const Field* only_label(const std::string& path, const OpenRequest& request, const char* what) {
  const Field* found = nullptr;
  for (const Field& field : request.wanted) {
    if (!field.is_label) continue;
    if (found != nullptr) {
      throw Error(path, fmt::format("holds {}, which have one label; the model has \"{}\" and "
                                    "\"{}\": give it arrays of these names, for example as .npz",
                                    what, found->name, field.name));
    }
    found = &field;
  }
  return found;
}

}  // namespace thimble::data

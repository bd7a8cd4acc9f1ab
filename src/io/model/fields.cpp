#include "io/model/fields.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "io/json/parse.h"
#include "ir/names.h"

namespace thimble::io {

using nlohmann::json;

Fields::Fields(const std::string& file, std::string path, const json& value,
               std::initializer_list<const char*> known)
    : file_(file), path_(std::move(path)), object_(value) {
  if (!value.is_object()) fail("expected an object, got " + printable(value));
  for (const auto& [key, item] : value.items()) {
    const auto is_key = [&key = key](const char* name) { return std::string_view(name) == key; };
    if (std::any_of(known.begin(), known.end(), is_key)) continue;
    fail(fmt::format("the field {} is not known to this version of thimble", printable(key)));
  }
}

const json* Fields::find(const char* name) const {
  const auto found = object_.find(name);
  return found == object_.end() ? nullptr : &*found;
}

const json& Fields::at(const char* name) const {
  const json* const found = find(name);
  if (found == nullptr) fail(fmt::format("the field {} is missing", name));
  return *found;
}

std::string Fields::text(const char* name) const {
  const json& value = at(name);
  if (!value.is_string()) expected(name, "a text", value);
  return value.get<std::string>();
}

std::string Fields::name(const char* name) const {
  std::string value = text(name);
  const std::string wrong = ir::name_error(value);
  if (!wrong.empty()) fail(fmt::format("{} is no name: it {}", name, wrong));
  return value;
}

const json& Fields::list(const char* name, size_t most) const {
  const json& value = at(name);
  if (!value.is_array()) expected(name, "a list", value);
  if (value.size() > most) {
    fail(fmt::format("{} has {} items; at most {} are read", name, value.size(), most));
  }
  return value;
}

int Fields::index(const char* name, size_t count, const char* what) const {
  return index_of(at(name), name, count, what);
}

int Fields::index_of(const json& item, const char* name, size_t count, const char* what) const {
  if (!item.is_number_unsigned() || item.get<uint64_t>() >= count) {
    expected(name, fmt::format("the number of one of {} {}", count, what), item);
  }
  return static_cast<int>(item.get<uint64_t>());
}

void Fields::fail(const std::string& message) const {
  throw Error(file_, fmt::format("{}: {}", path_, message));
}

void Fields::expected(const char* name, const std::string& wanted, const json& got) const {
  throw Error(file_, fmt::format("{}: {} must be {}, got {}", path_, name, wanted, printable(got)));
}

}  // namespace thimble::io

#include "io/json/attrs.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "io/json/parse.h"

namespace thimble::io {
namespace {

using nlohmann::json;

bool is_of_batch(int64_t number) { return ir::with_batch(number, 1) != number; }

json whole(const char* name, int64_t number) {
  if (!ir::is_in_range_of_lists(number)) throw Error(name, ir::out_of_range(number));
  if (!is_of_batch(number)) return number;
  const int64_t times = number / kBatch;
  return times == 1 ? std::string("N") : fmt::format("{}N", times);
}

json whole(const char* name, const std::vector<int64_t>& numbers) {
  json list = json::array();
  for (const int64_t number : numbers) list.push_back(whole(name, number));
  return list;
}

[[noreturn]] void fail(const std::string& where, const char* name, const std::string& wanted,
                       const json& got) {
  throw Error(where, fmt::format("{} must be {}, got {}", name, wanted, printable(got)));
}

// The number of "49N" in batches; 0 where the text is none.
int64_t batches_of(const std::string& text) {
  if (text == "N") return 1;
  if (text.empty() || text.back() != 'N') return 0;
  int32_t times = 0;
  const char* const end = text.data() + text.size() - 1;
  const auto [rest, error] = std::from_chars(text.data(), end, times);
  return error == std::errc() && rest == end ? times : 0;
}

int64_t integer(const std::string& where, const char* name, const json& given) {
  constexpr const char* kWanted = "a whole number";
  constexpr const char* kRange = "a whole number from -2147483647 to 2147483647";
  if (given.is_string()) {
    const int64_t times = batches_of(given.get<std::string>());
    if (times == 0) fail(where, name, kWanted, given);
    return times * kBatch;
  }
  const bool is_huge =
      given.is_number_unsigned() &&
      given.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (!given.is_number_integer() || is_huge) fail(where, name, kWanted, given);
  const int64_t number = given.get<int64_t>();
  if (!ir::is_in_range_of_lists(number) || is_of_batch(number)) {
    fail(where, name, kRange, given);
  }
  return number;
}

std::vector<int64_t> integers(const std::string& where, const char* name, const json& given) {
  if (!given.is_array()) fail(where, name, "a list of whole numbers", given);
  std::vector<int64_t> numbers;
  for (const json& number : given) numbers.push_back(integer(where, name, number));
  return numbers;
}

class Writer final : public ir::FieldVisitor {
 public:
  json object = json::object();

  void field(const char* name, bool& value, const char*) override { object[name] = value; }
  void field(const char* name, int64_t& value, const char*) override {
    object[name] = whole(name, value);
  }
  void field(const char* name, double& value, const char*) override {
    if (std::isfinite(value)) {
      object[name] = value;
    } else {
      object[name] = std::isnan(value) ? "nan" : value > 0.0 ? "inf" : "-inf";
    }
  }
  void field(const char* name, Pair& value, const char*) override {
    object[name] = whole(name, {value.h, value.w});
  }
  void field(const char* name, Padding& p, const char*) override {
    if (p.automatic) {
      object[name] = "same";
    } else {
      object[name] = whole(name, {p.top, p.bottom, p.left, p.right});
    }
  }
  void field(const char* name, std::vector<int64_t>& value, const char*) override {
    object[name] = whole(name, value);
  }
  void field(const char* name, Shape& value, const char*) override {
    object[name] = whole(name, value.dims());
  }
  void field(const char* name, DType& value, const char*) override {
    object[name] = to_string(value);
  }
  void choice(const char* name, int& value, std::span<const char* const> names,
              const char*) override {
    object[name] = names[static_cast<size_t>(value)];
  }
};

class Reader final : public ir::FieldVisitor {
 public:
  Reader(const json& object, const std::string& where) : object_(object), where_(where) {}

  std::set<std::string> known;

  void field(const char* name, bool& value, const char*) override {
    const json* given = find(name);
    if (given == nullptr) return;
    if (!given->is_boolean()) fail(name, "true or false", *given);
    value = given->get<bool>();
  }
  void field(const char* name, int64_t& value, const char*) override {
    if (const json* given = find(name)) value = integer(name, *given);
  }
  void field(const char* name, double& value, const char*) override {
    const json* given = find(name);
    if (given == nullptr) return;
    if (given->is_number()) {
      value = given->get<double>();
    } else if (*given == "inf") {
      value = std::numeric_limits<double>::infinity();
    } else if (*given == "-inf") {
      value = -std::numeric_limits<double>::infinity();
    } else if (*given == "nan") {
      value = std::numeric_limits<double>::quiet_NaN();
    } else {
      fail(name, "a number", *given);
    }
  }
  void field(const char* name, Pair& value, const char*) override {
    const json* given = find(name);
    if (given == nullptr) return;
    if (given->is_number()) {
      value = Pair(integer(name, *given));
      return;
    }
    const std::vector<int64_t> numbers = integers(name, *given);
    if (numbers.size() != 2) fail(name, "one number or [h, w]", *given);
    value = Pair(numbers[0], numbers[1]);
  }
  void field(const char* name, Padding& value, const char*) override {
    const json* given = find(name);
    if (given == nullptr) return;
    if (*given == "same") {
      value = Padding::same();
      return;
    }
    if (given->is_number()) {
      value = Padding(integer(name, *given));
      return;
    }
    const std::vector<int64_t> n = integers(name, *given);
    if (n.size() != 4) fail(name, "one number, [top, bottom, left, right] or \"same\"", *given);
    value = Padding(n[0], n[1], n[2], n[3]);
  }
  void field(const char* name, std::vector<int64_t>& value, const char*) override {
    if (const json* given = find(name)) value = integers(name, *given);
  }
  void field(const char* name, Shape& value, const char*) override {
    if (const json* given = find(name)) value = Shape(integers(name, *given));
  }
  void field(const char* name, DType& value, const char*) override {
    if (const json* given = find(name)) value = dtype_from_json(where_, name, *given);
  }
  void choice(const char* name, int& value, std::span<const char* const> names,
              const char*) override {
    const json* given = find(name);
    if (given == nullptr) return;
    std::string list;
    for (size_t i = 0; i < names.size(); ++i) {
      if (*given == names[i]) {
        value = static_cast<int>(i);
        return;
      }
      list += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", names[i]);
    }
    fail(name, "one of " + list, *given);
  }

 private:
  const json* find(const char* name) {
    known.insert(name);
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  [[noreturn]] void fail(const char* name, const std::string& wanted, const json& got) const {
    io::fail(where_, name, wanted, got);
  }
  [[nodiscard]] int64_t integer(const char* name, const json& given) const {
    return io::integer(where_, name, given);
  }
  [[nodiscard]] std::vector<int64_t> integers(const char* name, const json& given) const {
    return io::integers(where_, name, given);
  }

  const json& object_;
  const std::string& where_;
};

}  // namespace

json sizes_to_json(const std::vector<int64_t>& sizes) { return whole("shape", sizes); }

std::vector<int64_t> sizes_from_json(const std::string& where, const json& sizes) {
  return integers(where, "shape", sizes);
}

DType dtype_from_json(const std::string& where, const char* name, const json& given) {
  for (const DType dtype : kDTypes) {
    if (given == to_string(dtype)) return dtype;
  }
  fail(where, name, "an element type such as \"f32\"", given);
}

json attrs_to_json(const ir::Attrs& attrs) {
  Writer writer;
  attrs.visit(writer);
  return writer.object;
}

ir::Attrs attrs_from_json(const ir::AttrSchema* schema, const json& object,
                          const std::string& where) {
  if (!object.is_object()) throw Error(where, "attributes must be an object");
  Reader reader(object, where);
  ir::Attrs attrs = ir::Attrs::defaults(schema).changed(reader);
  for (const auto& [name, value] : object.items()) {
    if (reader.known.count(name) > 0) continue;
    std::string names;
    for (const std::string& each : reader.known) names += (names.empty() ? "" : ", ") + each;
    throw Error(where, fmt::format("there is no attribute \"{}\"; known: {}", name,
                                   names.empty() ? "none" : names));
  }
  return attrs;
}

}  // namespace thimble::io

#include "ml_train/properties.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace thimble::ml_train {
namespace {

constexpr int64_t kLargest = int64_t{1} << 31;
constexpr int64_t kMostOutputs = 65536;  // of a layer

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::optional<int64_t> whole(std::string_view text, int64_t least) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  if (value < least || value >= kLargest) return {};
  return value;
}

std::optional<double> decimal(std::string_view text) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

bool is_name(std::string_view text) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (text.empty() || !is_word(text[0])) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return is_word(c) || c == '.' || c == '_' || c == '/' || c == '-';
  });
}

bool is_connection(std::string_view text) {
  const size_t open = text.find('(');
  if (open == std::string_view::npos) return is_name(text);
  if (text.back() != ')' || !is_name(text.substr(0, open))) return false;
  const auto index = whole(text.substr(open + 1, text.size() - open - 2), 0);
  return index && *index < kMostOutputs;
}

bool is_shape(std::string_view text) {
  const std::vector<std::string> sizes = split_text(text, ':');
  return !sizes.empty() && sizes.size() <= 4 &&
         std::all_of(sizes.begin(), sizes.end(),
                     [](const std::string& size) { return whole(size, 1).has_value(); });
}

template <class Test>
bool all_parts(std::string_view text, Test test) {
  const std::vector<std::string> parts = split_text(text, ',');
  return !parts.empty() && std::all_of(parts.begin(), parts.end(), test);
}

bool is_choice(const Property& property, const std::string& value) {
  const std::vector<std::string> choices = split_text(property.choices, ' ');
  return std::find(choices.begin(), choices.end(), value) != choices.end();
}

bool is_padding(const std::string& value) {
  if (value == "valid" || value == "same") return true;
  const size_t parts = split_text(value, ',').size();
  return (parts == 1 || parts == 2 || parts == 4) &&
         all_parts(value, [](const std::string& part) { return whole(part, 0).has_value(); });
}

[[noreturn]] void refuse_pair(const std::string& owner, const std::string& text) {
  throw std::invalid_argument("[" + owner + "] expected key=value, got \"" + text + "\"");
}

std::string comma_list(const std::string& words) {
  std::string list;
  for (const std::string& word : split_text(words, ' ')) list += (list.empty() ? "" : ", ") + word;
  return list;
}

std::string expected(const Property& property) {
  const std::string size = std::to_string(property.size);
  switch (property.kind) {
    case Kind::boolean:
      return "true or false";
    case Kind::count:
      return "a whole number from 0";
    case Kind::positive:
      return "a whole number from 1";
    case Kind::integers:
      return (property.size > 0 ? size + " whole numbers" : std::string("whole numbers")) +
             " from 1, with commas between";
    case Kind::real:
      return "a decimal number";
    case Kind::reals:
      return "decimal numbers, with commas between";
    case Kind::name:
      return "a name of letters, digits and . _ / -, a letter or digit first";
    case Kind::names:
      return "names, with commas between";
    case Kind::connections:
      return "names of layers, with commas between: a, b(1); outputs have the numbers 0 to " +
             std::to_string(kMostOutputs - 1);
    case Kind::choice:
      return "one of " + comma_list(property.choices);
    case Kind::text:
      return "a text";
    case Kind::shape:
      return "up to four sizes: channel:height:width";
    case Kind::shapes:
      return "shapes such as 3:28:28, with commas between";
    case Kind::padding:
      return std::string("valid, same, ") +
             (property.choices[0] ? comma_list(property.choices) + ", " : "") +
             "one number, two, or four (top, bottom, left, right)";
  }
  return "";
}

}  // namespace

std::vector<std::string> split_text(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  size_t begin = 0;
  while (true) {
    const size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lowered);
  return result;
}

std::string trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return std::string(text);
}

std::string without_blanks(std::string_view text) {
  std::string result(text);
  std::erase_if(result, is_blank);
  return result;
}

std::vector<std::pair<std::string, std::string>> parse_pairs(
    const std::string& owner, const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& text : texts) {
    for (const std::string& part : split_text(text, '|')) {
      const size_t equals = part.find('=');
      const size_t value = part.find_first_not_of("= \t", equals == std::string::npos ? 0 : equals);
      const std::string key = lower(without_blanks(std::string_view(part).substr(0, equals)));
      if (equals == std::string::npos || value == std::string::npos || key.empty()) {
        refuse_pair(owner, part);
      }
      pairs.emplace_back(key, trimmed(std::string_view(part).substr(value)));
    }
  }
  return pairs;
}

Connection parse_connection(const std::string& text) {
  const size_t open = text.find('(');
  if (open == std::string::npos) return {text, 0};
  return {text.substr(0, open), std::stoll(text.substr(open + 1))};
}

std::string to_string(const std::vector<Connection>& connections) {
  std::string text;
  for (const Connection& from : connections) {
    text += (text.empty() ? "" : ",") + from.layer;
    if (from.index > 0) text += "(" + std::to_string(from.index) + ")";
  }
  return text;
}

PropertySet::PropertySet(std::string owner, std::vector<std::span<const Property>> tables)
    : owner_(std::move(owner)), tables_(std::move(tables)) {}

const Property* PropertySet::find(const std::string& key) const {
  for (const auto& table : tables_) {
    for (const Property& property : table) {
      if (key == property.key) return &property;
    }
  }
  return nullptr;
}

std::string PropertySet::known_keys() const {
  std::string keys;
  for (const auto& table : tables_) {
    for (const Property& property : table) {
      keys += (keys.empty() ? "" : ", ") + std::string(property.key);
    }
  }
  return keys;
}

void PropertySet::refuse(const std::string& key, const std::string& value,
                         const std::string& reason) const {
  throw std::invalid_argument("[" + owner_ + "] " + key + "=" + value + ": " + reason);
}

std::string PropertySet::canonical(const Property& property, const std::string& value) const {
  if (property.kind == Kind::text) return value;
  std::string text = without_blanks(value);
  const auto whole_from = [](int64_t least) {
    return [least](const std::string& part) { return whole(part, least).has_value(); };
  };
  bool valid = false;
  switch (property.kind) {
    case Kind::boolean:
      valid = text == "true" || text == "false";
      break;
    case Kind::count:
      valid = whole(text, 0).has_value();
      break;
    case Kind::positive:
      valid = whole(text, 1).has_value();
      break;
    case Kind::integers: {
      const auto parts = static_cast<int>(split_text(text, ',').size());
      valid = all_parts(text, whole_from(1)) && (property.size == 0 || parts == property.size);
      break;
    }
    case Kind::real:
      valid = decimal(text).has_value();
      break;
    case Kind::reals:
      valid = all_parts(text, [](const std::string& part) { return decimal(part).has_value(); });
      break;
    case Kind::name:
      text = lower(text);
      valid = is_name(text);
      break;
    case Kind::names:
      text = lower(text);
      valid = all_parts(text, is_name);
      break;
    case Kind::connections:
      text = lower(text);
      valid = all_parts(text, is_connection);
      break;
    case Kind::choice:
      text = lower(text);
      valid = is_choice(property, text);
      break;
    case Kind::shape:
      valid = is_shape(text);
      break;
    case Kind::shapes:
      valid = all_parts(text, is_shape);
      break;
    case Kind::padding:
      text = lower(text);
      valid = is_padding(text) || is_choice(property, text);
      break;
    case Kind::text:
      break;
  }
  if (!valid) refuse(property.key, value, "expected " + expected(property));
  return text;
}

void PropertySet::set(const std::vector<std::string>& texts) {
  for (const auto& [key, value] : parse_pairs(owner_, texts)) set(key, value);
}

void PropertySet::set(const std::string& key, const std::string& value) {
  const Property* const property = find(key);
  if (property == nullptr) refuse(key, value, "no such property; there are " + known_keys());
  std::string text = canonical(*property, value);
  const auto is_fallback = [&] {
    if (property->fallback == nullptr) return false;
    const bool number = property->kind == Kind::real;
    return text == property->fallback || (number && decimal(text) == decimal(property->fallback));
  };
  if (property->refused != nullptr && !is_fallback()) refuse(key, value, property->refused);
  values_[key] = std::move(text);
}

void PropertySet::require_all() const {
  for (const auto& table : tables_) {
    for (const Property& property : table) {
      if (!property.required || given(property.key)) continue;
      throw std::invalid_argument("[" + owner_ + "] the property " + property.key +
                                  " is missing: expected " + expected(property));
    }
  }
}

std::optional<std::string> PropertySet::text(const std::string& key) const {
  const auto found = values_.find(key);
  if (found != values_.end()) return found->second;
  const Property* const property = find(key);
  if (property == nullptr || property->fallback == nullptr) return {};
  return property->fallback;
}

bool PropertySet::boolean(const std::string& key) const { return text(key) == "true"; }

int64_t PropertySet::count(const std::string& key) const {
  return whole(text(key).value_or("0"), 0).value_or(0);
}

double PropertySet::real(const std::string& key) const {
  return decimal(text(key).value_or("0")).value_or(0.0);
}

std::vector<int64_t> PropertySet::integers(const std::string& key) const {
  std::vector<int64_t> values;
  for (const std::string& part : split_text(text(key).value_or(""), ','))
    values.push_back(whole(part, 0).value_or(0));
  return values;
}

std::vector<double> PropertySet::reals(const std::string& key) const {
  std::vector<double> values;
  for (const std::string& part : split_text(text(key).value_or(""), ','))
    values.push_back(decimal(part).value_or(0.0));
  return values;
}

std::vector<std::string> PropertySet::names(const std::string& key) const {
  return split_text(text(key).value_or(""), ',');
}

std::vector<Connection> PropertySet::connections(const std::string& key) const {
  std::vector<Connection> values;
  for (const std::string& part : names(key)) values.push_back(parse_connection(part));
  return values;
}

std::vector<std::vector<int64_t>> PropertySet::shapes(const std::string& key) const {
  std::vector<std::vector<int64_t>> values;
  for (const std::string& part : names(key)) {
    std::vector<int64_t> sizes;
    for (const std::string& size : split_text(part, ':'))
      sizes.push_back(whole(size, 1).value_or(1));
    sizes.insert(sizes.begin(), 4 - sizes.size(), 1);
    values.push_back(std::move(sizes));
  }
  return values;
}

}  // namespace thimble::ml_train

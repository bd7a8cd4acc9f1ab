#include "train/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <thimble/error.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace thimble::train {
namespace {

// Parses the whole text as a number, independent of the locale.
template <class T>
bool read(const std::string& text, T& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

}  // namespace

Settings::Settings(std::string where, std::string_view text) : where_(std::move(where)) {
  const size_t colon = text.find(':');
  name_ = std::string(text.substr(0, colon));
  if (colon == std::string_view::npos) return;
  std::string_view rest = text.substr(colon + 1);
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    const size_t equals = item.find('=');
    Entry entry;
    entry.key = std::string(item.substr(0, equals));
    entry.has_value = equals != std::string_view::npos;
    if (entry.has_value) entry.value = std::string(item.substr(equals + 1));
    for (const Entry& other : entries_) {
      if (other.key == entry.key) throw Error(where_, entry.key + " is given twice");
    }
    entries_.push_back(std::move(entry));
  }
}

Settings::Entry* Settings::take(const char* key) {
  known_keys_.emplace_back(key);
  for (Entry& entry : entries_) {
    if (entry.key != key) continue;
    entry.taken = true;
    return &entry;
  }
  return nullptr;
}

void Settings::fail_value(const Entry& entry, const char* expected) const {
  throw Error(where_, fmt::format("{} of {} takes {}, got \"{}\"", entry.key, name_, expected,
                                  entry.value));
}

double Settings::number(const char* key, double fallback) {
  const Entry* entry = take(key);
  double value = fallback;
  if (entry != nullptr && (!read(entry->value, value) || !std::isfinite(value))) {
    fail_value(*entry, "a number");
  }
  return value;
}

int64_t Settings::integer(const char* key, int64_t fallback) {
  const Entry* entry = take(key);
  int64_t value = fallback;
  if (entry != nullptr && !read(entry->value, value)) fail_value(*entry, "a whole number");
  return value;
}

std::vector<int64_t> Settings::integers(const char* key) {
  std::vector<int64_t> values;
  const Entry* entry = take(key);
  if (entry == nullptr) return values;
  for (size_t start = 0; start <= entry->value.size();) {
    const size_t end = std::min(entry->value.find(':', start), entry->value.size());
    if (!read(entry->value.substr(start, end - start), values.emplace_back())) {
      fail_value(*entry, "whole numbers with \":\" between them");
    }
    start = end + 1;
  }
  return values;
}

bool Settings::flag(const char* key, bool fallback) {
  const Entry* entry = take(key);
  if (entry == nullptr) return fallback;
  if (!entry->has_value || entry->value == "true") return true;
  if (entry->value != "false") fail_value(*entry, "true or false");
  return false;
}

std::string Settings::word(const char* key, const std::string& fallback) {
  const Entry* entry = take(key);
  if (entry == nullptr) return fallback;
  if (entry->value.empty()) fail_value(*entry, "a name");
  return entry->value;
}

int Settings::choice(const char* key, std::span<const char* const> names, int fallback) {
  const Entry* entry = take(key);
  if (entry == nullptr) return fallback;
  for (size_t i = 0; i < names.size(); ++i) {
    if (entry->value == names[i]) return static_cast<int>(i);
  }
  fail_value(*entry, fmt::format("one of {}", fmt::join(names, ", ")).c_str());
}

void Settings::finish() const {
  for (const Entry& entry : entries_) {
    if (entry.taken) continue;
    throw Error(where_, fmt::format("{} has no setting \"{}\"; it takes {}", name_, entry.key,
                                    fmt::join(known_keys_, ", ")));
  }
}

void Settings::fail_unknown(const std::vector<std::string>& known) const {
  throw Error(where_,
              fmt::format("unknown name \"{}\"; known are {}", name_, fmt::join(known, ", ")));
}

}  // namespace thimble::train

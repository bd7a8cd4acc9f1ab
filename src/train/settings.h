// Settings as text: "name:key=value,key=value,flag", as on the command line.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace thimble::train {

// Values are read by key. finish then rejects keys that were not read. All throw Error(where, ...).
class Settings {
 public:
  Settings(std::string where, std::string_view text);

  [[nodiscard]] const std::string& name() const { return name_; }
  // The value, or the fallback where the key is not given.
  double number(const char* key, double fallback);
  int64_t integer(const char* key, int64_t fallback);
  // Whole numbers with ":" between them; none where the key is not given.
  std::vector<int64_t> integers(const char* key);
  bool flag(const char* key, bool fallback);
  std::string word(const char* key, const std::string& fallback);
  // The number of one of the names.
  int choice(const char* key, std::span<const char* const> names, int fallback);
  // Throws if a key was given that none of the calls above read.
  void finish() const;
  // Throws "unknown name", listing the known ones.
  [[noreturn]] void fail_unknown(const std::vector<std::string>& known) const;

 private:
  struct Entry {
    std::string key;
    std::string value;
    bool has_value = false;
    bool taken = false;
  };
  Entry* take(const char* key);
  [[noreturn]] void fail_value(const Entry& entry, const char* expected) const;

  std::string where_;
  std::string name_;
  std::vector<Entry> entries_;
  std::vector<std::string> known_keys_;
};

}  // namespace thimble::train

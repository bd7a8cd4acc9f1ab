// Settings as text, "key=value": what a key may hold, and one strict parser for all objects.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace thimble::ml_train {

enum class Kind : uint8_t {
  boolean,      // true or false
  count,        // a whole number from 0
  positive,     // a whole number from 1
  integers,     // whole numbers from 1 with commas, as many as `size`, or any number of them
  real,         // a decimal number
  reals,        // with commas
  name,         // letters, digits and . _ / -, lower-cased
  names,        // with commas
  connections,  // names, each with (index) of an output where it is not the first
  choice,       // one of `choices`
  text,         // as it is
  shape,        // up to four sizes, with colons
  shapes,       // with commas
  padding,      // valid, same, or 1, 2 or 4 numbers; with `choices` also these
};

// One key of an object.
struct Property {
  const char* key;
  Kind kind;
  const char* fallback = nullptr;  // null: not set
  const char* choices = "";        // separated by blanks
  int size = 0;                    // of integers; 0: any
  bool required = false;
  const char* refused = nullptr;  // why no other value than the fallback is offered
};

// The output of a layer.
struct Connection {
  std::string layer;
  int64_t index = 0;
  bool operator==(const Connection&) const = default;
};

// Pairs of key and value. One text may hold several, separated by '|'. Keys are lower-cased; blanks
// around keys and values are dropped. Throws std::invalid_argument naming `owner` and the text.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> parse_pairs(
    const std::string& owner, const std::vector<std::string>& texts);

// The connection that a text is, which was checked before; and the text of several: "a,b(1)".
[[nodiscard]] Connection parse_connection(const std::string& text);
[[nodiscard]] std::string to_string(const std::vector<Connection>& connections);
[[nodiscard]] std::vector<std::string> split_text(std::string_view text, char separator);
[[nodiscard]] std::string lower(std::string_view text);
[[nodiscard]] std::string trimmed(std::string_view text);
[[nodiscard]] std::string without_blanks(std::string_view text);

// The values of an object's keys. Whatever set takes is valid, so the readers do not fail.
class PropertySet {
 public:
  // owner: in messages. tables: the keys; must outlive the set.
  PropertySet(std::string owner, std::vector<std::span<const Property>> tables);

  // Throws std::invalid_argument naming the owner, the key, the value and what was expected.
  void set(const std::vector<std::string>& texts);
  void set(const std::string& key, const std::string& value);
  void erase(const std::string& key) { values_.erase(key); }
  void set_owner(std::string owner) { owner_ = std::move(owner); }
  [[nodiscard]] const std::string& owner() const { return owner_; }
  // Throws std::invalid_argument where a required key is not set.
  void require_all() const;

  [[nodiscard]] bool knows(const std::string& key) const { return find(key) != nullptr; }
  // Whether a value was given.
  [[nodiscard]] bool given(const std::string& key) const { return values_.contains(key); }
  // Whether a value was given or there is a fallback.
  [[nodiscard]] bool has(const std::string& key) const { return text(key).has_value(); }
  [[nodiscard]] std::optional<std::string> text(const std::string& key) const;
  [[nodiscard]] bool boolean(const std::string& key) const;
  [[nodiscard]] int64_t count(const std::string& key) const;
  [[nodiscard]] double real(const std::string& key) const;
  [[nodiscard]] std::vector<int64_t> integers(const std::string& key) const;
  [[nodiscard]] std::vector<double> reals(const std::string& key) const;
  [[nodiscard]] std::string choice(const std::string& key) const { return text(key).value_or(""); }
  [[nodiscard]] std::vector<std::string> names(const std::string& key) const;
  [[nodiscard]] std::vector<Connection> connections(const std::string& key) const;
  // Four sizes, those left out 1.
  [[nodiscard]] std::vector<std::vector<int64_t>> shapes(const std::string& key) const;
  // What was given, by key.
  [[nodiscard]] const std::map<std::string, std::string>& given() const { return values_; }

 private:
  [[nodiscard]] const Property* find(const std::string& key) const;
  [[nodiscard]] std::string known_keys() const;
  [[noreturn]] void refuse(const std::string& key, const std::string& value,
                           const std::string& expected) const;
  [[nodiscard]] std::string canonical(const Property& property, const std::string& value) const;

  std::string owner_;
  std::vector<std::span<const Property>> tables_;
  std::map<std::string, std::string> values_;
};

}  // namespace thimble::ml_train

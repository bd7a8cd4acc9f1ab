// Fields of JSON objects from outside, with messages that name file and field.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

namespace thimble::io {

// An object and where it stands: "graph: nodes[3]".
class Fields {
 public:
  // Throws Error where the value is no object, or has a field that is not among the known.
  Fields(const std::string& file, std::string path, const nlohmann::json& value,
         std::initializer_list<const char*> known);

  [[nodiscard]] const std::string& path() const { return path_; }
  // Null where it is left out.
  [[nodiscard]] const nlohmann::json* find(const char* name) const;
  // These throw Error where the field is missing or of another kind.
  [[nodiscard]] const nlohmann::json& at(const char* name) const;
  [[nodiscard]] std::string text(const char* name) const;
  // A text that may be a name (ir/names.h).
  [[nodiscard]] std::string name(const char* name) const;
  // A list of no more than `most` items.
  [[nodiscard]] const nlohmann::json& list(const char* name, size_t most) const;
  // A whole number from 0 to below `count`; what: says what it counts.
  [[nodiscard]] int index(const char* name, size_t count, const char* what) const;
  // An item of a list, likewise.
  [[nodiscard]] int index_of(const nlohmann::json& item, const char* name, size_t count,
                             const char* what) const;

  [[noreturn]] void fail(const std::string& message) const;
  // "nodes[3].inputs: expected ..., got ..."
  [[noreturn]] void expected(const char* name, const std::string& wanted,
                             const nlohmann::json& got) const;

 private:
  const std::string& file_;
  std::string path_;
  const nlohmann::json& object_;
};

}  // namespace thimble::io

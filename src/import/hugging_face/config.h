// config.json of a Hugging Face model.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace thimble::importer::hugging_face {

// Fields by name, checked when they are read. A field that is null counts as left out.
class Config {
 public:
  // file: for messages. Throws Error naming it where the text is no JSON object.
  Config(const std::string& file, std::string_view text);

  [[nodiscard]] const std::string& file() const { return file_; }
  // These return the field of the first of the names that is there, and throw Error naming file and
  // field where it is of another kind, or is missing without another value to take.
  using Names = std::initializer_list<const char*>;
  // A whole number from 1 on.
  [[nodiscard]] int64_t size(Names names, std::optional<int64_t> otherwise = {}) const;
  // A number above 0.
  [[nodiscard]] double number(Names names, std::optional<double> otherwise = {}) const;
  [[nodiscard]] bool flag(const char* name, bool otherwise) const;
  [[nodiscard]] std::string text(Names names, std::optional<std::string> otherwise = {}) const;
  // The first of "architectures", or `otherwise`.
  [[nodiscard]] std::string architecture(const std::string& otherwise) const;
  [[nodiscard]] bool has(const char* name) const { return find({name}) != nullptr; }
  // The object of that name; none where it is left out.
  [[nodiscard]] std::optional<Config> object(const char* name) const;

  [[noreturn]] void fail(const std::string& field, const std::string& message) const;
  // known: the architectures that thimble reads.
  [[noreturn]] void refuse_architecture(const std::string& given, const char* known) const;
  // Throws Error unless a field that is there has this value: thimble has no other.
  void only(const char* name, const nlohmann::json& value) const;

 private:
  Config(std::string file, std::string prefix, nlohmann::json fields)
      : file_(std::move(file)), prefix_(std::move(prefix)), fields_(std::move(fields)) {}
  [[nodiscard]] const nlohmann::json* find(Names names, const char** name = nullptr) const;

  std::string file_;
  std::string prefix_;  // of the names of fields in messages
  nlohmann::json fields_;
};

}  // namespace thimble::importer::hugging_face

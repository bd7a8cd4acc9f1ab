// Immutable values shared by copies. The many graphs that a planner makes of one share their common
// contents.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace thimble::ir {

// Assigning replaces the value and leaves copies as they are.
template <class T>
class Shared {
 public:
  Shared() = default;  // T()
  Shared(T value) : value_(std::make_shared<const T>(std::move(value))) {}

  [[nodiscard]] const T& operator*() const { return value_ ? *value_ : none(); }
  [[nodiscard]] const T* operator->() const { return &**this; }
  operator const T&() const { return **this; }

  friend bool operator==(const Shared& a, const Shared& b) {
    return a.value_ == b.value_ || *a == *b;
  }
  friend bool operator==(const Shared& a, const T& b) { return *a == b; }

 private:
  static const T& none() {
    static const T value{};
    return value;
  }

  std::shared_ptr<const T> value_;
};

// A name, much like a std::string.
class Name : public Shared<std::string> {
 public:
  using Shared::Shared;
  Name& operator=(std::string name) {
    Shared::operator=(std::move(name));
    return *this;
  }
  Name& operator+=(std::string_view more) { return *this = std::string(**this).append(more); }
  operator std::string_view() const { return **this; }

  template <std::convertible_to<std::string_view> T>
  friend bool operator==(const Name& name, const T& other) {
    return std::string_view(name) == std::string_view(other);
  }
  friend std::string operator+(const Name& a, std::string_view b) {
    return std::string(*a).append(b);
  }
  friend std::string operator+(std::string_view a, const Name& b) {
    return std::string(a).append(*b);
  }
};

}  // namespace thimble::ir

template <>
struct fmt::formatter<thimble::ir::Name> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const thimble::ir::Name& name, Context& context) const {
    return formatter<std::string_view>::format(name, context);
  }
};

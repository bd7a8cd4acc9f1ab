// Reads and changes the settings of optimizers by their names.
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>

#include "ir/attrs.h"

namespace thimble::train {

// Settings are flags, whole numbers, numbers and choices; a visitor of these alone.
class SettingVisitor : public ir::FieldVisitor {
 public:
  using FieldVisitor::field;
  void field(const char*, Pair&, const char*) final {}
  void field(const char*, Padding&, const char*) final {}
  void field(const char*, std::vector<int64_t>&, const char*) final {}
  void field(const char*, Shape&, const char*) final {}
  void field(const char*, DType&, const char*) final {}
  void field(const char*, bool&, const char*) override {}
  void field(const char*, int64_t&, const char*) override {}
  void field(const char*, double&, const char*) override {}
  void choice(const char*, int&, std::span<const char* const>, const char*) override {}
};

// Finds a setting of type double or int64_t by name, and optionally changes it.
template <class T>
class OneSetting final : public SettingVisitor {
 public:
  using SettingVisitor::field;
  explicit OneSetting(std::string_view name, std::optional<T> wanted = {})
      : name_(name), wanted_(wanted) {}
  void field(const char* name, double& value, const char*) override { visit(name, value); }
  void field(const char* name, int64_t& value, const char*) override { visit(name, value); }
  std::optional<T> found;

 private:
  template <class V>
  void visit(const char* name, V& value) {
    if constexpr (std::is_same_v<V, T>) {
      if (name != name_) return;
      if (wanted_) value = *wanted_;
      found = value;
    }
  }
  std::string_view name_;
  std::optional<T> wanted_;
};

}  // namespace thimble::train

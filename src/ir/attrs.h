// Attributes of a node: a plain struct behind a type-erased, immutable handle, with enough
// reflection to print, compare, parse and rewrite it.
#pragma once

#include <thimble/attributes.h>
#include <thimble/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace thimble::ir {

// Visits the fields of an attribute struct. There is one overload per kind of field that an
// attribute may have.
class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;
  virtual void field(const char* name, bool& value, const char* doc) = 0;
  virtual void field(const char* name, int64_t& value, const char* doc) = 0;
  virtual void field(const char* name, double& value, const char* doc) = 0;
  virtual void field(const char* name, Pair& value, const char* doc) = 0;
  virtual void field(const char* name, Padding& value, const char* doc) = 0;
  virtual void field(const char* name, std::vector<int64_t>& value, const char* doc) = 0;
  virtual void field(const char* name, Shape& value, const char* doc) = 0;
  virtual void field(const char* name, DType& value, const char* doc) = 0;
  virtual void choice(const char* name, int& value, std::span<const char* const> names,
                      const char* doc) = 0;

  void field(const char* name, Activation& value, const char* doc) {
    enumeration(name, value, kActivations, doc);
  }
  void field(const char* name, Reduction& value, const char* doc) {
    enumeration(name, value, kReductions, doc);
  }
  // An enum whose values are 0, 1, ... in the order of names.
  template <class E>
  void enumeration(const char* name, E& value, std::span<const char* const> names,
                   const char* doc) {
    int number = static_cast<int>(value);
    choice(name, number, names, doc);
    // Other threads may read the same attributes, so an unchanged value is not written.
    if (number != static_cast<int>(value)) value = static_cast<E>(number);
  }

 private:
  static constexpr const char* kActivations[] = {"none", "relu", "relu6"};
  static constexpr const char* kReductions[] = {"mean", "sum", "batch_mean", "none"};
};

// Functions of an attribute struct that generic code needs.
struct AttrSchema {
  std::shared_ptr<void> (*make)();
  std::shared_ptr<void> (*copy)(const void* attrs);
  void (*visit)(void* attrs, FieldVisitor& visitor);
};

// An immutable attribute struct, or nothing. A struct T is described by a function
// `void describe(T&, FieldVisitor&)` found by argument-dependent lookup.
class Attrs {
 public:
  Attrs() = default;
  template <class T>
  static Attrs of(T value) {
    Attrs attrs;
    attrs.schema_ = schema_of<T>();
    attrs.data_ = std::make_shared<T>(std::move(value));
    return attrs;
  }
  // The defaults of a schema; empty if the schema is null.
  static Attrs defaults(const AttrSchema* schema);

  template <class T>
  static const AttrSchema* schema_of() {
    static constexpr AttrSchema schema{
        [] { return std::static_pointer_cast<void>(std::make_shared<T>()); },
        [](const void* attrs) {
          return std::static_pointer_cast<void>(std::make_shared<T>(*static_cast<const T*>(attrs)));
        },
        [](void* attrs, FieldVisitor& visitor) { describe(*static_cast<T*>(attrs), visitor); }};
    return &schema;
  }

  explicit operator bool() const { return data_ != nullptr; }
  template <class T>
  [[nodiscard]] const T& as() const {
    return *static_cast<const T*>(data_.get());
  }
  [[nodiscard]] const AttrSchema* schema() const { return schema_; }

  // Visits the fields; the visitor must not change them.
  void visit(FieldVisitor& visitor) const;
  // Returns a copy that the visitor has changed.
  [[nodiscard]] Attrs changed(FieldVisitor& visitor) const;

  // "stride=2, padding=1": the fields that differ from their defaults.
  [[nodiscard]] std::string text() const;
  // All fields. Equal strings mean equal attributes.
  [[nodiscard]] std::string full_text() const;

 private:
  const AttrSchema* schema_ = nullptr;
  std::shared_ptr<const void> data_;
};

// The range of whole numbers in attributes, so that kernels can take them as int: -kMostAttribute
// to kMostAttribute, where a size in the open batch counts as that of one sample. A number in a
// list may also be kToEnd, beyond every axis. Graph::add refuses others, and so do files.
inline constexpr int64_t kMostAttribute = INT32_MAX;
inline constexpr int64_t kToEnd = INT64_MAX;
[[nodiscard]] bool is_in_range(int64_t number);
[[nodiscard]] inline bool is_in_range_of_lists(int64_t number) {
  return number == kToEnd || is_in_range(number);
}
// Names the first number out of range, and the range; empty: there is none.
[[nodiscard]] std::string range_error(const Attrs& attrs);
// "is 4294967296; attributes hold whole numbers from ... to ...".
[[nodiscard]] std::string out_of_range(int64_t number);

// Returns a copy in which every size given in the open batch has its value for this batch.
[[nodiscard]] Attrs with_batch(const Attrs& attrs, int64_t batch);

// The value of a size for a given batch. Only sizes in the open batch ("N", "49N") change.
[[nodiscard]] int64_t with_batch(int64_t dim, int64_t batch);
[[nodiscard]] Shape with_batch(const Shape& shape, int64_t batch);

}  // namespace thimble::ir

#include "ir/attrs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace thimble::ir {
namespace {

// Collects "name=value" texts of all fields.
class Printer final : public FieldVisitor {
 public:
  std::vector<std::pair<std::string, std::string>> fields;

  void field(const char* name, bool& value, const char*) override {
    fields.emplace_back(name, value ? "true" : "false");
  }
  void field(const char* name, int64_t& value, const char*) override {
    fields.emplace_back(name, to_string(Shape{value}));
    fields.back().second = fields.back().second.substr(1, fields.back().second.size() - 2);
  }
  void field(const char* name, double& value, const char*) override {
    fields.emplace_back(name, fmt::format("{}", value));
  }
  void field(const char* name, Pair& value, const char*) override {
    fields.emplace_back(name, value.h == value.w ? fmt::format("{}", value.h)
                                                 : fmt::format("{{{}, {}}}", value.h, value.w));
  }
  void field(const char* name, Padding& p, const char*) override {
    std::string text;
    if (p.automatic) {
      text = "same";
    } else if (p.top == p.bottom && p.left == p.right && p.top == p.left) {
      text = fmt::format("{}", p.top);
    } else {
      text = fmt::format("{{{}, {}, {}, {}}}", p.top, p.bottom, p.left, p.right);
    }
    fields.emplace_back(name, text);
  }
  void field(const char* name, std::vector<int64_t>& value, const char*) override {
    fields.emplace_back(name, to_string(Shape(value)));
  }
  void field(const char* name, Shape& value, const char*) override {
    fields.emplace_back(name, to_string(value));
  }
  void field(const char* name, DType& value, const char*) override {
    fields.emplace_back(name, to_string(value));
  }
  void choice(const char* name, int& value, std::span<const char* const> names,
              const char*) override {
    fields.emplace_back(name, names[static_cast<size_t>(value)]);
  }
};

// Replaces the open batch by a batch size.
class Rebatcher final : public FieldVisitor {
 public:
  explicit Rebatcher(int64_t batch) : batch_(batch) {}

  void field(const char*, bool&, const char*) override {}
  void field(const char*, int64_t& value, const char*) override {
    value = with_batch(value, batch_);
  }
  void field(const char*, double&, const char*) override {}
  void field(const char*, Pair&, const char*) override {}
  void field(const char*, Padding&, const char*) override {}
  void field(const char*, std::vector<int64_t>& value, const char*) override {
    for (int64_t& dim : value) dim = with_batch(dim, batch_);
  }
  void field(const char*, Shape& value, const char*) override { value = with_batch(value, batch_); }
  void field(const char*, DType&, const char*) override {}
  void choice(const char*, int&, std::span<const char* const>, const char*) override {}

 private:
  int64_t batch_;
};

// Finds the first whole number that is out of range.
class RangeCheck final : public FieldVisitor {
 public:
  std::string error;

  void field(const char*, bool&, const char*) override {}
  void field(const char* name, int64_t& value, const char*) override {
    check(name, is_in_range(value), value);
  }
  void field(const char*, double&, const char*) override {}
  void field(const char* name, Pair& value, const char*) override {
    for (const int64_t number : {value.h, value.w}) check(name, is_in_range(number), number);
  }
  void field(const char* name, Padding& p, const char*) override {
    for (const int64_t side : {p.top, p.bottom, p.left, p.right}) {
      check(name, is_in_range(side), side);
    }
  }
  void field(const char* name, std::vector<int64_t>& value, const char*) override {
    for (const int64_t number : value) check(name, is_in_range_of_lists(number), number);
  }
  void field(const char* name, Shape& value, const char*) override {
    for (const int64_t dim : value.dims()) check(name, is_in_range(dim), dim);
  }
  void field(const char*, DType&, const char*) override {}
  void choice(const char*, int&, std::span<const char* const>, const char*) override {}

 private:
  void check(const char* name, bool fits, int64_t number) {
    if (!fits && error.empty()) error = fmt::format("{} {}", name, out_of_range(number));
  }
};

}  // namespace

Attrs Attrs::defaults(const AttrSchema* schema) {
  Attrs attrs;
  attrs.schema_ = schema;
  if (schema != nullptr) attrs.data_ = schema->make();
  return attrs;
}

void Attrs::visit(FieldVisitor& visitor) const {
  // The cast is safe: reading visitors leave the fields alone.
  if (data_) schema_->visit(const_cast<void*>(data_.get()), visitor);
}

Attrs Attrs::changed(FieldVisitor& visitor) const {
  Attrs copy;
  if (!data_) return copy;
  std::shared_ptr<void> data = schema_->copy(data_.get());
  schema_->visit(data.get(), visitor);
  copy.schema_ = schema_;
  copy.data_ = std::move(data);
  return copy;
}

std::string Attrs::text() const {
  Printer mine;
  Printer defaults;
  visit(mine);
  Attrs::defaults(schema_).visit(defaults);
  std::string text;
  for (size_t i = 0; i < mine.fields.size(); ++i) {
    // The list of fields may depend on the values of others.
    if (i < defaults.fields.size() && mine.fields[i] == defaults.fields[i]) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", mine.fields[i].first,
                        mine.fields[i].second);
  }
  return text;
}

std::string Attrs::full_text() const {
  Printer printer;
  visit(printer);
  std::string text;
  for (const auto& [name, value] : printer.fields) text += fmt::format("{}={};", name, value);
  return text;
}

bool is_in_range(int64_t number) {
  const int64_t of_one = with_batch(number, 1);
  return of_one >= -kMostAttribute && of_one <= kMostAttribute;
}

std::string range_error(const Attrs& attrs) {
  RangeCheck check;
  attrs.visit(check);
  return check.error;
}

std::string out_of_range(int64_t number) {
  return fmt::format("is {}; attributes hold whole numbers from {} to {}, and lists {} for the end",
                     number, -kMostAttribute, kMostAttribute, kToEnd);
}

int64_t with_batch(int64_t dim, int64_t batch) {
  return dim != 0 && dim % kBatch == 0 ? dim / kBatch * batch : dim;
}

Shape with_batch(const Shape& shape, int64_t batch) {
  std::vector<int64_t> dims = shape.dims();
  for (int64_t& dim : dims) dim = with_batch(dim, batch);
  return Shape(std::move(dims));
}

Attrs with_batch(const Attrs& attrs, int64_t batch) {
  Rebatcher rebatcher(batch);
  return attrs.changed(rebatcher);
}

}  // namespace thimble::ir

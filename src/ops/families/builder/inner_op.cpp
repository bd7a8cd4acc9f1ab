#include "ops/families/builder/inner_op.h"

#include <algorithm>
#include <string>

namespace thimble::ops {
namespace {

// Shows the fields of an inner op to a visitor under a longer name.
class Prefixed final : public ir::FieldVisitor {
 public:
  Prefixed(ir::FieldVisitor& visitor, std::string prefix)
      : visitor_(visitor), prefix_(std::move(prefix)) {}

  void field(const char* name, bool& value, const char* doc) override { pass(name, value, doc); }
  void field(const char* name, int64_t& value, const char* doc) override { pass(name, value, doc); }
  void field(const char* name, double& value, const char* doc) override { pass(name, value, doc); }
  void field(const char* name, Pair& value, const char* doc) override { pass(name, value, doc); }
  void field(const char* name, Padding& value, const char* doc) override { pass(name, value, doc); }
  void field(const char* name, std::vector<int64_t>& value, const char* doc) override {
    pass(name, value, doc);
  }
  void field(const char* name, Shape& value, const char* doc) override { pass(name, value, doc); }
  void field(const char* name, DType& value, const char* doc) override { pass(name, value, doc); }
  void choice(const char* name, int& value, std::span<const char* const> names,
              const char* doc) override {
    visitor_.choice((prefix_ + name).c_str(), value, names, doc);
  }

 private:
  template <class T>
  void pass(const char* name, T& value, const char* doc) {
    visitor_.field((prefix_ + name).c_str(), value, doc);
  }
  ir::FieldVisitor& visitor_;
  std::string prefix_;
};

}  // namespace

std::vector<const char*> names_of_ops(bool (*wanted)(const OpDef&)) {
  std::vector<const char*> names{"none"};
  for (const OpDef* op : ir::all_ops()) {
    if (wanted(*op)) names.push_back(op->name);
  }
  return names;
}

void describe_inner(InnerOp& inner, const std::string& what, const std::vector<const char*>& names,
                    const char* doc, ir::FieldVisitor& v) {
  const auto at = std::find_if(names.begin(), names.end(), [&inner](const char* name) {
    return inner.op != nullptr && std::string_view(name) == inner.op->name;
  });
  const int before = at == names.end() ? 0 : static_cast<int>(at - names.begin());
  int number = before;
  v.choice(what.c_str(), number, names, doc);
  if (number != before) {
    inner.op = number == 0 ? nullptr : ir::find_op(names[static_cast<size_t>(number)]);
    inner.attrs = ir::Attrs::defaults(inner.op == nullptr ? nullptr : inner.op->signature.attrs);
  }
  Prefixed prefixed(v, what + ".");
  // A visitor that only reads must find nothing written: others may read at the same time.
  ir::Attrs changed = inner.attrs.changed(prefixed);
  if (changed.full_text() != inner.attrs.full_text()) inner.attrs = std::move(changed);
}

}  // namespace thimble::ops

#include "ir/reference_page.h"

#include <fmt/format.h>

namespace thimble::ir {
namespace {

class DocCollector final : public FieldVisitor {
 public:
  std::vector<AttrDoc> docs;

  void field(const char* name, bool& value, const char* doc) override {
    add(name, "bool", value ? "true" : "false", doc);
  }
  void field(const char* name, int64_t& value, const char* doc) override {
    add(name, "integer", fmt::format("{}", value), doc);
  }
  void field(const char* name, double& value, const char* doc) override {
    add(name, "number", fmt::format("{}", value), doc);
  }
  void field(const char* name, Pair& value, const char* doc) override {
    add(name, "pair {h, w}", fmt::format("{{{}, {}}}", value.h, value.w), doc);
  }
  void field(const char* name, Padding&, const char* doc) override {
    add(name, "padding", "0", doc);
  }
  void field(const char* name, std::vector<int64_t>& value, const char* doc) override {
    add(name, "list of integers", to_string(Shape(value)), doc);
  }
  void field(const char* name, Shape& value, const char* doc) override {
    add(name, "shape", thimble::to_string(value), doc);
  }
  void field(const char* name, DType& value, const char* doc) override {
    add(name, "dtype", thimble::to_string(value), doc);
  }
  void choice(const char* name, int& value, std::span<const char* const> names,
              const char* doc) override {
    std::string type;
    for (const char* const option : names) type += (type.empty() ? "" : ", ") + std::string(option);
    add(name, "one of " + type, names[static_cast<size_t>(value)], doc);
  }

 private:
  void add(const char* name, std::string type, std::string value, const char* doc) {
    docs.push_back({name, std::move(type), std::move(value), doc});
  }
};

std::string arguments(const char* title, const std::vector<ArgDoc>& args) {
  std::string out;
  for (const ArgDoc& arg : args) {
    out += fmt::format("- {} `{}`{}: {}\n", title, arg.name, arg.optional ? " (optional)" : "",
                       arg.doc);
  }
  return out;
}

std::string section(const OpDef& op) {
  std::string out = fmt::format("## {}\n\n{}\n\n", op.name, op.doc);
  out += arguments("input", op.inputs) + arguments("output", op.outputs);
  for (const AttrDoc& attr : attribute_docs(op)) {
    out += fmt::format("- attribute `{}` ({}; default {}): {}\n", attr.name, attr.type,
                       attr.default_value, attr.doc);
  }
  if (op.vjp == nullptr) out += "- no gradient\n";
  if (op.example[0] != '\0') out += fmt::format("\n```cpp\n{}\n```\n", op.example);
  return out + "\n";
}

}  // namespace

std::vector<AttrDoc> attribute_docs(const OpDef& op) {
  DocCollector collector;
  Attrs::defaults(op.attrs).visit(collector);
  return collector.docs;
}

std::string reference_page() {
  std::string out =
      "# Ops\n\n"
      "Generated from the op definitions by `thimble ops --markdown`; do not edit.\n"
      "`N` is the batch; images are `[N, H, W, C]`, weights `[out, kh, kw, in]`.\n\n";
  for (const OpDef* op : all_ops()) out += section(*op);
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace thimble::ir

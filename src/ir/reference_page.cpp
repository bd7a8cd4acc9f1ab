#include "ir/reference_page.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace thimble::ir {
namespace {

std::string spelled(const Padding& padding) {
  if (padding.automatic) return "same";
  if (padding == Padding(padding.top)) return fmt::format("{}", padding.top);
  return fmt::format("{{{}, {}, {}, {}}}", padding.top, padding.bottom, padding.left,
                     padding.right);
}

std::string spelled(const Initializer& rule) {
  const std::pair<const char*, Initializer> named[] = {
      {"torch_default", init::torch_default()}, {"lecun_uniform", init::lecun_uniform()},
      {"lecun_normal", init::lecun_normal()},   {"xavier_uniform", init::xavier_uniform()},
      {"xavier_normal", init::xavier_normal()}, {"he_uniform", init::he_uniform()},
      {"he_normal", init::he_normal()}};
  for (const auto& [name, each] : named) {
    if (rule == each) return name;
  }
  switch (rule.kind) {
    case Initializer::Kind::constant:
      return fmt::format("{}", rule.a);
    case Initializer::Kind::uniform:
      return fmt::format("uniform({}, {})", rule.a, rule.b);
    case Initializer::Kind::normal:
      return fmt::format("normal({}, {})", rule.a, rule.b);
    case Initializer::Kind::orthogonal:
      return fmt::format("orthogonal({})", rule.a);
    default:
      return fmt::format("variance({})", rule.a);
  }
}

class DocCollector final : public OptionVisitor {
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
  void field(const char* name, Padding& value, const char* doc) override {
    add(name, "padding", spelled(value), doc);
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
  void field(const char* name, std::string& value, const char* doc) override {
    add(name, "text", value.empty() ? "empty" : value, doc);
  }
  void field(const char* name, Initializer& value, const char* doc) override {
    add(name, "initializer", spelled(value), doc);
  }
  void field(const char* name, std::optional<Initializer>& value, const char* doc) override {
    add(name, "initializer", value ? spelled(*value) : "none", doc);
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

// With the types that each input takes.
std::string inputs(const std::vector<ArgDoc>& args, const std::vector<std::vector<TypeSet>>& rows) {
  std::string out;
  for (size_t i = 0; i < args.size(); ++i) {
    TypeSet taken;
    for (const std::vector<TypeSet>& row : rows) taken |= row[i];
    out += fmt::format("- input `{}` ({}{}): {}\n", args[i].name,
                       args[i].optional ? "optional; " : "", to_string(taken), args[i].doc);
  }
  return out;
}

std::string attributes(const char* title, const std::vector<AttrDoc>& attrs) {
  std::string out;
  for (const AttrDoc& attr : attrs) {
    out += fmt::format("- {} `{}` ({}; default {}): {}\n", title, attr.name, attr.type,
                       attr.default_value, attr.doc);
  }
  return out;
}

std::string code(const char* example) {
  return example[0] == '\0' ? "" : fmt::format("\n```cpp\n{}\n```\n", example);
}

std::string details(const OpDef& op) {
  std::string out = inputs(op.signature.inputs, type_rows(op)) +
                    arguments("output", op.signature.outputs) +
                    attributes("attribute", attribute_docs(op));
  if (op.gradient.vjp == nullptr) out += "- no gradient\n";
  return out + code(op.signature.example);
}

std::string details(const FunctionDef& f) {
  return inputs(f.inputs, type_rows(f)) + arguments("output", f.outputs) +
         arguments("parameter", f.parameters) + attributes("option", attribute_docs(f));
}

// The note on ops that users do not call.
std::string note_on(const std::string& kind) {
  if (kind == "gradient") return "A gradient, built by the library alone.\n\n";
  if (kind == "update") return "An update of what a step keeps, built by the library alone.\n\n";
  return kind == "internal" ? "Built by the library alone.\n\n" : "";
}

std::string section(const ReferenceEntry& entry) {
  std::string out =
      fmt::format("## {}\n\n{}\n\n{}", entry.name, doc_of(entry), note_on(kind_of(entry)));
  if (entry.op != nullptr) out += details(*entry.op);
  if (entry.function == nullptr) return out + "\n";
  const FunctionDef& f = *entry.function;
  if (entry.op != nullptr) {
    out += fmt::format("\n{}: {}\n\n", f.is_layer() ? "As a layer" : "As a function", f.doc);
  }
  out += details(f);
  if (entry.op == nullptr || std::string_view(f.example) != entry.op->signature.example)
    out += code(f.example);
  return out + "\n";
}

}  // namespace

std::vector<AttrDoc> attribute_docs(const OpDef& op) {
  DocCollector collector;
  Attrs::defaults(op.signature.attrs).visit(collector);
  return collector.docs;
}

std::vector<AttrDoc> attribute_docs(const FunctionDef& function) {
  DocCollector collector;
  const OptionSchema& options = function.options;
  if (options.make != nullptr) options.visit(options.make().get(), collector);
  return collector.docs;
}

std::vector<ReferenceEntry> reference_entries() {
  std::map<std::string_view, ReferenceEntry> entries;
  for (const OpDef* op : all_ops()) {
    entries[op->name] = {op->name, op, find_function(op->name)};
  }
  for (const FunctionDef* f : all_functions())
    entries.try_emplace(f->name, ReferenceEntry{f->name, nullptr, f});
  std::vector<ReferenceEntry> sorted;
  for (const auto& [name, entry] : entries) sorted.push_back(entry);
  return sorted;
}

const char* kind_of(const ReferenceEntry& entry) {
  if (entry.op == nullptr) return "function";
  if (entry.function != nullptr || is_for_users(*entry.op)) return "op";
  if (!entry.op->memory.updates.empty()) return "update";
  return entry.op->is_gradient ? "gradient" : "internal";
}

const char* doc_of(const ReferenceEntry& entry) {
  return entry.op != nullptr ? entry.op->signature.doc : entry.function->doc;
}

std::string reference_page() {
  std::string out =
      "# Ops\n\n"
      "Generated from the definitions by `thimble ops --markdown`; do not edit.\n"
      "`N` is the batch; images are `[N, H, W, C]`, weights `[out, kh, kw, in]`. A function is "
      "made of several\nops; a layer creates its parameters, `<name of the layer>.<parameter>`. "
      "Behind an input stand the element\ntypes that it takes: floating is f32, f16 or bf16, "
      "integer i64, i32, i16, i8, u32 or u8.\n\n";
  for (const ReferenceEntry& entry : reference_entries()) out += section(entry);
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace thimble::ir

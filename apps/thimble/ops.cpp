#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "console.h"
#include "ir/reference_page.h"

namespace thimble::cli {
namespace {

struct OpsArguments {
  bool json = false;
  bool markdown = false;
};

nlohmann::ordered_json arguments(const std::vector<ir::ArgDoc>& args) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ir::ArgDoc& arg : args) {
    list.push_back({{"name", arg.name}, {"doc", arg.doc}, {"optional", arg.optional}});
  }
  return list;
}

// With the types that each input takes.
nlohmann::ordered_json inputs(const std::vector<ir::ArgDoc>& args,
                              const std::vector<std::vector<ir::TypeSet>>& rows) {
  nlohmann::ordered_json list = arguments(args);
  for (size_t i = 0; i < args.size(); ++i) {
    ir::TypeSet taken;
    for (const std::vector<ir::TypeSet>& row : rows) taken |= row[i];
    list[i]["types"] = nlohmann::ordered_json::array();
    for (const DType dtype : kDTypes) {
      if (taken.has(dtype)) list[i]["types"].push_back(to_string(dtype));
    }
  }
  return list;
}

nlohmann::ordered_json attributes(const std::vector<ir::AttrDoc>& attrs) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ir::AttrDoc& attr : attrs) {
    list.push_back({{"name", attr.name},
                    {"type", attr.type},
                    {"default", attr.default_value},
                    {"doc", attr.doc}});
  }
  return list;
}

nlohmann::ordered_json as_json(const ir::OpDef& op) {
  return {{"inputs", inputs(op.signature.inputs, ir::type_rows(op))},
          {"outputs", arguments(op.signature.outputs)},
          {"attributes", attributes(ir::attribute_docs(op))}};
}

nlohmann::ordered_json as_json(const ir::FunctionDef& f) {
  return {{"inputs", inputs(f.inputs, ir::type_rows(f))},
          {"outputs", arguments(f.outputs)},
          {"attributes", attributes(ir::attribute_docs(f))},
          {"parameters", arguments(f.parameters)}};
}

// JSON of an entry: the op and, if users call it through a function, that function.
nlohmann::ordered_json as_json(const ir::ReferenceEntry& entry) {
  nlohmann::ordered_json json{
      {"name", entry.name}, {"kind", ir::kind_of(entry)}, {"doc", ir::doc_of(entry)}};
  if (entry.op == nullptr) {
    json.update(as_json(*entry.function));
    return json;
  }
  json.update(as_json(*entry.op));
  json["differentiable"] = entry.op->gradient.vjp != nullptr;
  if (entry.function != nullptr) {
    json["function"] = {{"doc", entry.function->doc}};
    json["function"].update(as_json(*entry.function));
  }
  return json;
}

// A short description of an op: its first sentence up to the formula.
std::string_view brief(std::string_view doc) {
  for (const std::string_view end : {". ", ": ", "; "}) doc = doc.substr(0, doc.find(end));
  if (doc.ends_with('.')) doc.remove_suffix(1);
  return doc;
}

int run_ops(const OpsArguments& options) {
  if (options.markdown) {
    fmt::print("{}", ir::reference_page());
  } else if (options.json) {
    nlohmann::ordered_json ops = nlohmann::ordered_json::array();
    for (const ir::ReferenceEntry& entry : ir::reference_entries()) ops.push_back(as_json(entry));
    print_json({{"ops", ops}});
  } else {
    for (const ir::ReferenceEntry& entry : ir::reference_entries()) {
      fmt::print("{:<46} {:<9} {}\n", entry.name, ir::kind_of(entry), brief(ir::doc_of(entry)));
    }
  }
  return kOk;
}

}  // namespace

void add_ops(CLI::App& app, Action& action) {
  auto options = std::make_shared<OpsArguments>();
  CLI::App* command = app.add_subcommand(
      "ops", "List the ops, functions and layers, and what only the library builds");
  command->add_flag("--json", options->json, "print one JSON object with all attributes instead");
  command->add_flag("--markdown", options->markdown, "print the reference page instead");
  command->callback([&action, options] { action = [options] { return run_ops(*options); }; });
}

}  // namespace thimble::cli

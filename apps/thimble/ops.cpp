#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "console.h"
#include "ir/reference_page.h"

namespace thimble::cli {
namespace {

struct Options {
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

nlohmann::ordered_json as_json(const ir::OpDef& op) {
  nlohmann::ordered_json attributes = nlohmann::ordered_json::array();
  for (const ir::AttrDoc& attr : ir::attribute_docs(op)) {
    attributes.push_back({{"name", attr.name},
                          {"type", attr.type},
                          {"default", attr.default_value},
                          {"doc", attr.doc}});
  }
  return {{"name", op.name},
          {"doc", op.doc},
          {"inputs", arguments(op.inputs)},
          {"outputs", arguments(op.outputs)},
          {"attributes", attributes},
          {"differentiable", op.vjp != nullptr}};
}

// What an op does in a few words: its first sentence up to the formula.
std::string_view brief(std::string_view doc) {
  for (const std::string_view end : {". ", ": ", "; "}) doc = doc.substr(0, doc.find(end));
  if (doc.ends_with('.')) doc.remove_suffix(1);
  return doc;
}

int run(const Options& options) {
  if (options.markdown) {
    fmt::print("{}", ir::reference_page());
  } else if (options.json) {
    nlohmann::ordered_json ops = nlohmann::ordered_json::array();
    for (const ir::OpDef* op : ir::all_ops()) ops.push_back(as_json(*op));
    print_json({{"ops", ops}});
  } else {
    for (const ir::OpDef* op : ir::all_ops()) {
      fmt::print("{:<38} {}\n", op->name, brief(op->doc));
    }
  }
  return kOk;
}

}  // namespace

void add_ops(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("ops", "List the ops, those of gradients and updates included");
  command->add_flag("--json", options->json, "print one JSON object with all attributes instead");
  command->add_flag("--markdown", options->markdown, "print the reference page instead");
  command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace thimble::cli

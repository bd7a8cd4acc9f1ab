#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <set>
#include <utility>

#include "io/json/attrs.h"
#include "io/json/parse.h"
#include "io/model/fields.h"
#include "io/model/graph_json.h"
#include "io/model/initializer_fields.h"
#include "io/model/read_quantization.h"
#include "ir/sizes.h"

namespace thimble::io {
namespace {

using nlohmann::json;

// More than any model has; a hostile file must not keep the reader busy.
constexpr size_t kMostText = size_t{1} << 26;
constexpr size_t kMostValues = size_t{1} << 20;
constexpr size_t kMostSources = size_t{1} << 16;
constexpr int kMaxGraphDepth = 8;  // graph, nodes, node, attributes, list: five are used

constexpr ir::Role kSources[] = {ir::Role::input,    ir::Role::label, ir::Role::parameter,
                                 ir::Role::constant, ir::Role::state, ir::Role::scalar};

// Words that the trainer writes into the scalar kRngName; see ir/graph.h.
constexpr int64_t kRngWords = 6;
// Its name in files in which names of thimble's own have no prefix.
constexpr const char* kPlainRngName = "rng";

class GraphReader {
 public:
  GraphReader(const std::string& file, const json& root)
      : file_(file),
        root_(file, "graph", root,
              {"version", "values", "nodes", "layers", "loss", "outputs", "metrics"}) {}

  ir::Graph read() {
    check_version();
    values_ = &root_.list("values", kMostValues);
    add_layers();
    const json& nodes = root_.list("nodes", kMostValues);
    for (size_t n = 0; n < nodes.size(); ++n) add_node(n, nodes[n]);
    add_sources(values_->size());
    graph_.outputs = named("outputs");
    graph_.metrics = named("metrics");
    if (!root_.at("loss").is_null()) graph_.loss = root_.index("loss", values_->size(), "values");
    check_results();
    return std::move(graph_);
  }

 private:
  // The result of make(), whose errors are given file and field. known: what a field's name says.
  template <class Make>
  auto wrapped(const std::string& path, const std::string& known, const Make& make) const {
    try {
      return make();
    } catch (const Error& error) {
      throw Error(file_, fmt::format("{}: {}", path,
                                     error.where() == known ? error.message() : error.what()));
    }
  }

  void check_version() const {
    const json& version = root_.at("version");
    if (version == kGraphVersion) return;
    root_.fail(
        fmt::format("its version is {}, this thimble reads version {}; use the thimble that "
                    "wrote it, or a later one",
                    printable(version), kGraphVersion));
  }

  void add_layers() {
    const json& layers = root_.list("layers", kMostValues);
    for (size_t i = 0; i < layers.size(); ++i) {
      const Fields layer(file_, fmt::format("graph: layers[{}]", i), layers[i], {"name", "type"});
      graph_.begin_layer(layer.name("type"), layer.name("name"));
      graph_.end_layer();
    }
  }

  // All values that come before this one and are not there yet; no node computes them.
  void add_sources(size_t before) {
    for (size_t id = graph_.values.size(); id < before; ++id) add_source(id);
  }

  [[nodiscard]] Fields value_fields(size_t id) const {
    return {file_,
            fmt::format("graph: values[{}]", id),
            (*values_)[id],
            {"name", "role", "dtype", "shape", "quantization", "frozen", "initializer"}};
  }

  void add_source(size_t id) {
    const Fields fields = value_fields(id);
    if (++sources_ > kMostSources) {
      root_.fail(fmt::format("more than {} values are no outputs of nodes", kMostSources));
    }
    std::string name = fields.name("name");
    const ir::Role role = role_of(fields);
    if (role == ir::Role::scalar && name == kPlainRngName) name = ir::kRngName;
    const ir::TensorType type = type_of(fields);
    check_source(fields, name, role, type);
    Initializer init;
    if (const json* given = fields.find("initializer")) {
      const ir::Attrs attrs = wrapped(fields.path() + ".initializer", "", [&] {
        return attrs_from_json(ir::Attrs::schema_of<InitializerFields>(), *given, "");
      });
      init = attrs.as<InitializerFields>().init;
    }
    const bool is_own =
        ir::is_own_name(name) && (role == ir::Role::constant || role == ir::Role::scalar);
    wrapped(fields.path(), "", [&] {
      return is_own ? graph_.own_source(name, type, role, init)
                    : graph_.source(name, type, role, init);
    });
    if (const json* frozen = fields.find("frozen")) {
      if (!frozen->is_boolean()) fields.expected("frozen", "true or false", *frozen);
      graph_.values.back().trainable = !frozen->get<bool>();
    }
  }

  [[nodiscard]] static ir::Role role_of(const Fields& fields) {
    const std::string text = fields.text("role");
    for (const ir::Role role : kSources) {
      if (text == to_string(role)) return role;
    }
    fields.fail(fmt::format("its role is {}, but no node computes it", printable(text)));
  }

  static void check_source(const Fields& fields, const std::string& name, ir::Role role,
                           const ir::TensorType& type) {
    const bool is_field = role == ir::Role::input || role == ir::Role::label;
    if (is_field && (type.shape.rank() == 0 || type.shape[0] != kBatch)) {
      fields.expected("shape", "that of a batch, with \"N\" as its first size", fields.at("shape"));
    }
    if (role == ir::Role::scalar &&
        (name != ir::kRngName || type != ir::TensorType{DType::u32, {kRngWords}})) {
      fields.fail(
          fmt::format("a model has no scalar but \"{}\", u32[{}]", ir::kRngName, kRngWords));
    }
  }

  [[nodiscard]] ir::TensorType type_of(const Fields& fields) const {
    const DType dtype = wrapped(fields.path(), "",
                                [&] { return dtype_from_json("", "dtype", fields.at("dtype")); });
    const std::vector<int64_t> sizes = wrapped(fields.path(), "", [&] {
      return sizes_from_json("", fields.list("shape", ir::kMostRank));
    });
    const json* const quantization = fields.find("quantization");
    return {dtype, Shape(sizes),
            quantization == nullptr
                ? nullptr
                : read_quantization(file_, fields.path() + ".quantization", *quantization)};
  }

  void add_node(size_t n, const json& item) {
    const Fields fields(file_, fmt::format("graph: nodes[{}]", n), item,
                        {"op", "inputs", "outputs", "attributes", "layer"});
    const std::string name = fields.text("op");
    const ir::OpDef* const op = ir::find_op(name);
    if (op == nullptr) {
      fields.fail(fmt::format("there is no op {}; a later thimble may have it", printable(name)));
    }
    if (op->optimizer.name != nullptr) {
      fields.fail(fmt::format("the op {} is an optimizer's; a model has none", name));
    }
    const std::vector<int> outputs = outputs_of(fields);
    add_sources(static_cast<size_t>(outputs[0]));
    const std::vector<Value> inputs = inputs_of(fields);
    int layer = -1;
    if (fields.find("layer") != nullptr) {
      layer = fields.index("layer", graph_.layers.size(), "layers");
    }
    const json none = json::object();
    const json* const attributes = fields.find("attributes");
    graph_.reopen_layer(layer);
    wrapped(fmt::format("{} ({})", fields.path(), name), name, [&] {
      return graph_.add(
          *op,
          attrs_from_json(op->signature.attrs, attributes == nullptr ? none : *attributes, name),
          inputs);
    });
    graph_.end_layer();
    check_outputs(fields, outputs);
  }

  [[nodiscard]] std::vector<int> outputs_of(const Fields& fields) const {
    std::vector<int> ids;
    for (const json& item : fields.list("outputs", kMostValues)) {
      ids.push_back(fields.index_of(item, "outputs", values_->size(), "values"));
      const bool follows = ids.size() == 1 ? ids[0] >= static_cast<int>(graph_.values.size())
                                           : ids.back() == ids[ids.size() - 2] + 1;
      if (!follows) {
        fields.expected("outputs", "new values, numbered one after the other and in order of nodes",
                        fields.at("outputs"));
      }
    }
    if (ids.empty()) fields.expected("outputs", "at least one value", fields.at("outputs"));
    return ids;
  }

  [[nodiscard]] std::vector<Value> inputs_of(const Fields& fields) {
    std::vector<Value> inputs;
    for (const json& item : fields.list("inputs", kMostValues)) {
      if (item.is_null()) {
        inputs.emplace_back();
        continue;
      }
      const int id = fields.index_of(item, "inputs", values_->size(), "values");
      if (id >= static_cast<int>(graph_.values.size())) {
        fields.fail(fmt::format("reads the value {} before it is computed", id));
      }
      inputs.push_back(graph_.value(id));
    }
    return inputs;
  }

  // The values that the shape rule gave the last node must be those of the file.
  void check_outputs(const Fields& node, const std::vector<int>& ids) {
    const std::vector<int>& made = graph_.nodes.back().outputs;
    if (made != ids) {
      node.fail(fmt::format("has {} outputs, its rule says {}", ids.size(), made.size()));
    }
    for (const int id : ids) {
      const Fields fields = value_fields(static_cast<size_t>(id));
      ir::ValueData& data = graph_.values[static_cast<size_t>(id)];
      const ir::TensorType type = type_of(fields);
      if (to_string(type) == to_string(data.type) && type != data.type) {
        fields.fail("its quantization is not the one that the rule of its node says");
      }
      if (type != data.type) {
        fields.fail(fmt::format("its type is {}, the rule of its node says {}", to_string(type),
                                to_string(data.type)));
      }
      if (fields.text("role") != to_string(data.role)) {
        fields.expected("role", fmt::format("\"{}\" as its node says", to_string(data.role)),
                        fields.at("role"));
      }
      if (fields.find("frozen") != nullptr || fields.find("initializer") != nullptr) {
        fields.fail("a node computes it: it is neither frozen nor initialized");
      }
      data.name = fields.name("name");
    }
  }

  [[nodiscard]] std::vector<std::pair<std::string, int>> named(const char* field) const {
    std::vector<std::pair<std::string, int>> results;
    std::set<std::string> names;
    const json& items = root_.list(field, kMostValues);
    for (size_t i = 0; i < items.size(); ++i) {
      const Fields fields(file_, fmt::format("graph: {}[{}]", field, i), items[i],
                          {"name", "value"});
      results.emplace_back(fields.name("name"), fields.index("value", values_->size(), "values"));
      if (!names.insert(results.back().first).second) {
        fields.fail(fmt::format("the name {} stands twice", printable(results.back().first)));
      }
    }
    return results;
  }

  void check_results() const {
    wrapped("graph", "verify", [&] {
      ir::verify(graph_);
      return 0;
    });
    for (const auto& [name, id] : graph_.metrics) {
      const ir::TensorType& type = graph_.type(id);
      if (type.shape.rank() == 0 && type.dtype == DType::f32) continue;
      root_.fail(
          fmt::format("the metric {} is {}, not one f32 number", printable(name), to_string(type)));
    }
  }

  const std::string& file_;
  Fields root_;
  const json* values_ = nullptr;
  ir::Graph graph_;
  size_t sources_ = 0;
};

}  // namespace

ir::Graph graph_from_json(const std::string& file, std::string_view text) {
  if (text.size() > kMostText) {
    throw Error(file,
                fmt::format("graph: has {} bytes; at most {} are read", text.size(), kMostText));
  }
  const json root =
      parse_json({.file = file, .what = "the graph", .counted = "it"}, text, kMaxGraphDepth);
  return GraphReader(file, root).read();
}

}  // namespace thimble::io

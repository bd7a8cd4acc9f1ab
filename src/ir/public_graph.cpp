#include <thimble/graph.h>

#include <fmt/format.h>

#include "ir/canonical.h"
#include "ir/graph.h"
#include "ir/names.h"
#include "ir/wildcard.h"

namespace thimble {

const Shape& Value::shape() const { return graph_->type(id_).shape; }
DType Value::dtype() const { return graph_->type(id_).dtype; }
const Quantization* Value::quantization() const { return graph_->type(id_).quantization.get(); }
const std::string& Value::name() const { return graph_->data(id_).name; }

Graph::Graph() : graph_(std::make_unique<ir::Graph>()) {}
Graph::~Graph() = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;

namespace {

// How users see the names that a pattern can match.
constexpr const char* kNamesHint =
    "\"; the names are listed by thimble summary MODEL --parameters, and by "
    "Graph.summary(parameters=True) in Python";

Shape batched(const Shape& sample) {
  std::vector<int64_t> dims = sample.dims();
  dims.insert(dims.begin(), kBatch);
  return Shape(std::move(dims));
}

Value of_this(ir::Graph& graph, const Value& value, const char* what) {
  if (!value || &value.graph() != &graph) {
    throw Error(what, "the value belongs to another graph or to none");
  }
  return value;
}

// what: "output". Refuses a name that is taken, or that files cannot hold.
void check_result(const std::vector<std::pair<std::string, int>>& named, const std::string& name,
                  const char* what) {
  ir::check_name(what, name);
  for (const auto& [taken, id] : named) {
    if (taken == name) {
      throw Error(what, fmt::format("the name {} is taken; give every {} its own", name, what));
    }
  }
}

ir::TensorType type_of(DType dtype, Shape shape, const Quantization& quantization) {
  ir::TensorType type{dtype, std::move(shape)};
  if (quantization != Quantization()) {
    type.quantization = std::make_shared<const Quantization>(ir::canonical(quantization));
  }
  return type;
}

}  // namespace

Value Graph::input(const std::string& name, const Shape& sample, DType dtype,
                   const Quantization& quantization) {
  return graph_->source(name, type_of(dtype, batched(sample), quantization), ir::Role::input);
}

Value Graph::label(const std::string& name, const Shape& sample, DType dtype) {
  return graph_->source(name, {dtype, batched(sample)}, ir::Role::label);
}

Value Graph::parameter(const std::string& name, const Shape& shape, const Initializer& init,
                       DType dtype, const Quantization& quantization) {
  if (dtype != DType::f32 && init.kind != Initializer::Kind::constant) {
    throw Error(name, fmt::format("a parameter of type {} starts from a constant alone; take "
                                  "init::zeros, ones or constant, and set or load other values",
                                  to_string(dtype)));
  }
  const Value value =
      graph_->source(name, type_of(dtype, shape, quantization), ir::Role::parameter, init);
  if (dtype != DType::f32) graph_->values[static_cast<size_t>(value.id())].trainable = false;
  return value;
}

Value Graph::constant(const std::string& name, const Array& values,
                      const Quantization& quantization) {
  const Value value = graph_->source(name, type_of(values.dtype(), values.shape(), quantization),
                                     ir::Role::constant);
  graph_->values[static_cast<size_t>(value.id())].data = values.owned();
  return value;
}

Value Graph::constant(const std::string& name, const Shape& shape, std::vector<float> values) {
  if (static_cast<int64_t>(values.size()) != shape.elements()) {
    throw Error(name, fmt::format("a constant of shape {} has {} values, got {}", to_string(shape),
                                  shape.elements(), values.size()));
  }
  return constant(name, Array(std::move(values), shape));
}

void Graph::minimize(Value loss) {
  of_this(*graph_, loss, "minimize");
  if (graph_->loss) throw Error("minimize", "the graph has a loss already; add the two together");
  if (loss.shape().rank() != 0 || loss.dtype() != DType::f32) {
    throw Error(
        "minimize",
        fmt::format("expected one f32 number, got {}; {}", ir::to_string(graph_->type(loss.id())),
                    loss.shape().rank() != 0 ? "reduce it with mean or sum"
                                             : "convert it with cast(x, DType::f32)"));
  }
  graph_->loss = loss.id();
}

void Graph::output(const std::string& name, Value value) {
  of_this(*graph_, value, "output");
  check_result(graph_->outputs, name, "output");
  graph_->outputs.emplace_back(name, value.id());
}

void Graph::metric(const std::string& name, Value value) {
  of_this(*graph_, value, "metric");
  if (value.shape().rank() != 0 || value.dtype() != DType::f32) {
    throw Error("metric", fmt::format("{} must be one f32 number, got {}; reduce it with mean or "
                                      "sum, and convert it with cast(x, DType::f32)",
                                      name, ir::to_string(graph_->type(value.id()))));
  }
  check_result(graph_->metrics, name, "metric");
  graph_->metrics.emplace_back(name, value.id());
}

int Graph::freeze(const std::string& pattern) {
  int matched = 0;
  for (ir::ValueData& data : graph_->values) {
    if (data.role == ir::Role::parameter && ir::matches(pattern, data.name)) {
      data.trainable = false;
      ++matched;
    }
  }
  if (matched == 0) {
    throw Error("freeze", "no parameter matches \"" + pattern + kNamesHint);
  }
  return matched;
}

int Graph::unfreeze(const std::string& pattern) {
  int matched = 0;
  for (ir::ValueData& data : graph_->values) {
    if (data.role != ir::Role::parameter || !ir::matches(pattern, data.name)) continue;
    if (!ir::is_trainable(data.type)) continue;
    data.trainable = true;
    ++matched;
  }
  if (matched == 0) {
    throw Error("unfreeze",
                "no parameter of f32, i8 with a scale or i32 matches \"" + pattern + kNamesHint);
  }
  return matched;
}

std::string Graph::text() const { return ir::text(*graph_); }

}  // namespace thimble

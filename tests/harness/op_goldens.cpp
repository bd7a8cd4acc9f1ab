#include "harness/op_goldens.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include "autodiff/autodiff.h"
#include "harness/op_data.h"
#include "io/json/attrs.h"
#include "ir/function_def.h"
#include "ir/reference.h"

namespace thimble::test {
namespace {

using ir::Bytes;
using ir::Precision;
using nlohmann::json;

// The file holds nine digits of what PyTorch computes in double precision; constants of formulas
// may pass through float.
constexpr double kGoldenTolerance64 = 1e-7;
// Sums of some hundred terms in float.
constexpr double kGoldenTolerance32 = 1e-5;

DType dtype_of(const json& tensor) {
  const std::string name = tensor.at("dtype");
  for (const DType dtype : kDTypes) {
    if (name == to_string(dtype)) return dtype;
  }
  throw Error("golden", "unknown element type " + name);
}

ir::TensorType type_of(const json& tensor) {
  return {dtype_of(tensor), Shape(tensor.at("shape").get<std::vector<int64_t>>())};
}

double number(const json& value) {
  if (value.is_number()) return value.get<double>();
  const double infinity = std::numeric_limits<double>::infinity();
  if (value == "inf") return infinity;
  if (value == "-inf") return -infinity;
  return std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> numbers_of(const json& tensor) {
  std::vector<double> numbers;
  for (const json& value : tensor.at("values")) numbers.push_back(number(value));
  return numbers;
}

template <class T>
Bytes integers(const std::vector<double>& numbers) {
  Bytes bytes;
  for (const double v : numbers) {
    const T value = static_cast<T>(v);
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), first, first + sizeof(T));
  }
  return bytes;
}

Bytes contents(const json& tensor, Precision precision) {
  const std::vector<double> numbers = numbers_of(tensor);
  switch (dtype_of(tensor)) {
    case DType::i32:
      return integers<int32_t>(numbers);
    case DType::u32:
      return integers<uint32_t>(numbers);
    case DType::u8:
      return integers<uint8_t>(numbers);
    case DType::i8:
      return integers<int8_t>(numbers);
    default:
      break;
  }
  // PyTorch computed from what float32 holds.
  return ir::to_bytes(ir::to_doubles(ir::to_bytes(numbers, Precision::f32), Precision::f32),
                      precision);
}

// A value of the graph and what it must be.
struct Expected {
  std::string what;
  int id;  // -1: there is none
  const json* tensor;
};

struct GoldenGraph {
  ir::Graph graph;
  std::map<int, const json*> sources;
  std::vector<Expected> expected;
};

// Sets the options of a builder function that a golden names.
class OptionReader final : public ir::OptionVisitor {
 public:
  explicit OptionReader(const json& object) : object_(object) {}
  size_t found = 0;

  void field(const char* name, bool& value, const char*) override { read(name, value); }
  void field(const char* name, int64_t& value, const char*) override { read(name, value); }
  void field(const char* name, double& value, const char*) override { read(name, value); }
  void field(const char* name, std::string& value, const char*) override { read(name, value); }
  void field(const char* name, std::vector<int64_t>& value, const char*) override {
    read(name, value);
  }
  void field(const char* name, Shape& value, const char*) override {
    std::vector<int64_t> dims = value.dims();
    read(name, dims);
    value = Shape(dims);
  }
  void field(const char* name, Pair& value, const char*) override {
    std::vector<int64_t> n{value.h, value.w};
    read(name, n);
    value = {n.at(0), n.at(1)};
  }
  void field(const char* name, Padding& value, const char*) override {
    if (object_.value(name, json()) == "same") {
      value = Padding::same();
      ++found;
      return;
    }
    std::vector<int64_t> n{value.top, value.bottom, value.left, value.right};
    read(name, n);
    value = {n.at(0), n.at(1), n.at(2), n.at(3)};
  }
  void choice(const char* name, int& value, std::span<const char* const> names,
              const char*) override {
    std::string chosen = names[static_cast<size_t>(value)];
    read(name, chosen);
    value = static_cast<int>(std::find(names.begin(), names.end(), chosen) - names.begin());
  }
  // Not for goldens: what a layer starts from, and types.
  void field(const char*, DType&, const char*) override {}
  void field(const char*, Initializer&, const char*) override {}
  void field(const char*, std::optional<Initializer>&, const char*) override {}

 private:
  template <class T>
  void read(const char* name, T& value) {
    if (!object_.contains(name)) return;
    object_.at(name).get_to(value);
    ++found;
  }
  const json& object_;
};

// The outputs of the op or, where there is none of that name or users call a builder function in
// its place, of that function; a layer's only where the golden has its inputs or outputs.
std::vector<Value> build(ir::Graph& graph, const std::string& name, const json& golden,
                         std::vector<Value> inputs) {
  const json& attrs = golden.at("attrs");
  const ir::OpDef* op = ir::find_op(name);
  const ir::FunctionDef* function = ir::find_function(name);
  const size_t outputs = golden.at("outputs").size();
  const bool same_outputs = function != nullptr && function->outputs.size() == outputs;
  const bool more =
      op != nullptr && function != nullptr &&
      (op->signature.outputs.size() != outputs || inputs.size() > op->signature.inputs.size() ||
       (!function->is_layer() && function->inputs.size() == op->signature.inputs.size()));
  const bool hidden = same_outputs && more;
  if (op != nullptr && !hidden) {
    return graph.add(*op, io::attrs_from_json(op->signature.attrs, attrs, name + " golden"),
                     inputs);
  }
  if (function == nullptr) throw Error(name, "no such op in the library");
  inputs.resize(std::max(inputs.size(), function->inputs.size()));
  std::shared_ptr<void> options;
  OptionReader reader(attrs);
  if (function->options.make != nullptr) {
    options = function->options.make();
    function->options.visit(options.get(), reader);
  }
  if (reader.found != attrs.size()) throw Error(name, "the golden names an unknown option");
  return function->build(inputs, options.get());
}

GoldenGraph make_graph(const json& golden) {
  const std::string name = golden.at("op");
  GoldenGraph made;
  const auto add_source = [&](const std::string& source, const json& tensor) {
    const Value value = made.graph.source(source, type_of(tensor), ir::Role::state);
    made.sources[value.id()] = &tensor;
    return value;
  };
  std::vector<Value> inputs;
  for (const json& input : golden.at("inputs")) {
    const std::string source = "input_" + std::to_string(inputs.size());
    inputs.push_back(input.is_null() ? Value() : add_source(source, input));
  }
  const std::vector<Value> outputs = build(made.graph, name, golden, inputs);
  if (outputs.size() != golden.at("outputs").size()) {
    throw Error(name, fmt::format("has {} outputs, PyTorch {}", outputs.size(),
                                  golden.at("outputs").size()));
  }
  std::vector<autodiff::Cotangent> seeds;
  for (size_t i = 0; i < outputs.size(); ++i) {
    made.expected.push_back(
        {"output " + std::to_string(i), outputs[i].id(), &golden.at("outputs")[i]});
    const json& cotangent = golden.at("cotangents").at(i);
    if (cotangent.is_null()) continue;
    seeds.push_back({outputs[i], add_source("cotangent_" + std::to_string(i), cotangent)});
  }
  std::vector<int> wanted;
  std::vector<const json*> gradients;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const json& gradient = golden.at("gradients").at(i);
    if (gradient.is_null()) continue;
    wanted.push_back(inputs[i].id());
    gradients.push_back(&gradient);
  }
  if (wanted.empty()) return made;
  const auto found = autodiff::append_gradients(made.graph, seeds, wanted);
  for (size_t i = 0; i < found.size(); ++i) {
    made.expected.push_back(
        {"gradient by " + made.graph.data(found[i].value).name, found[i].gradient, gradients[i]});
  }
  return made;
}

std::string compare(const GoldenGraph& made, Precision precision, double tolerance) {
  std::map<int, Bytes> sources;
  for (const auto& [id, tensor] : made.sources) sources[id] = contents(*tensor, precision);
  const auto values = ir::run_reference(made.graph, std::move(sources), precision);
  for (const Expected& expected : made.expected) {
    if (expected.id < 0) return expected.what + " is missing";
    const ir::TensorType type = made.graph.type(expected.id);
    const ir::TensorType wanted = type_of(*expected.tensor);
    if (type != wanted) {
      return fmt::format("{} is {}, PyTorch's {}", expected.what, ir::to_string(type),
                         ir::to_string(wanted));
    }
    const Bytes& bytes = values[static_cast<size_t>(expected.id)];
    if (type.dtype != DType::f32) {
      if (bytes != contents(*expected.tensor, precision)) {
        return expected.what + " differs from PyTorch's";
      }
      continue;
    }
    const double difference =
        relative_difference(ir::to_doubles(bytes, precision), numbers_of(*expected.tensor));
    if (!(difference <= tolerance)) {
      return fmt::format("{} differs from PyTorch's by {:.3g} of its largest, allowed {:.3g}",
                         expected.what, difference, tolerance);
    }
  }
  return "";
}

}  // namespace

std::vector<json> find_goldens(const std::string& source_folder) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(source_folder) / "tests/goldens";
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(source_folder) / "src/ops")) {
    if (fs::exists(entry.path() / "golden.py")) names.insert(entry.path().filename().string());
  }
  for (const ir::OpDef* const op : ir::all_ops()) {
    const auto compared = [](const ir::TestCase& test) { return *test.torch != '\0'; };
    const ir::Signature& says = op->signature;
    if (*says.torch != '\0' || std::any_of(says.cases.begin(), says.cases.end(), compared)) {
      names.insert(op->name);
    }
  }
  std::vector<json> goldens;
  for (const std::string& name : names) {
    const fs::path file = folder / (name + ".json");
    if (!fs::exists(file)) {
      throw Error(file.string(), "is missing; run scripts/goldens.py " + name);
    }
    const json cases = json::parse(std::ifstream(file), nullptr, false);
    if (!cases.is_array()) throw Error(file.string(), "is no list of cases");
    goldens.insert(goldens.end(), cases.begin(), cases.end());
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (names.count(entry.path().stem().string()) > 0) continue;
    throw Error(entry.path().string(), "belongs to no op; remove it");
  }
  return goldens;
}

std::string check_golden(const json& golden) {
  const GoldenGraph made = make_graph(golden);
  std::string error = compare(made, Precision::f32, kGoldenTolerance32);
  const bool has_double =
      std::all_of(made.graph.nodes.begin(), made.graph.nodes.end(),
                  [](const ir::Node& n) { return n.op->kernels.ref64 != nullptr; });
  if (error.empty() && has_double) error = compare(made, Precision::f64, kGoldenTolerance64);
  return error;
}

}  // namespace thimble::test

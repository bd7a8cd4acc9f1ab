// Writing recurrent layers: thimble projects the sequence first, ONNX's operators do so themselves.
#include <thimble/ops.h>

#include <cstring>

#include "import/onnx/write.h"
#include "ops/families/recurrent/recurrent.h"

namespace thimble::importer::onnx {
namespace {

// The product that projects the sequence of a scan, and where its weight and biases come from.
struct Projection {
  int product = -1;  // the node; -1: there is none of that form
  int weight = -1;
  std::vector<int> biases;  // none, one or two, which are added up
  int sum = -1;             // the node that adds them up
};

bool is_scan(std::string_view name) {
  return name == "lstm_scan" || name == "gru_scan" || name == "rnn_scan";
}

Projection projection_of(const FileWriter& file, const ir::Node& scan) {
  Projection made;
  const ir::Graph& graph = file.graph();
  const int x = scan.input(0);
  const int producer = graph.data(x).producer;
  if (producer < 0 || file.readers()[static_cast<size_t>(x)].size() != 1) return made;
  const ir::Node& product = graph.nodes[static_cast<size_t>(producer)];
  if (std::string_view(product.op->name) != "matmul") return made;
  const auto& attrs = product.attrs.as<MatmulAttrs>();
  const int weight = product.input(1);
  if (attrs.transpose_a || !attrs.transpose_b || attrs.activation != Activation::none ||
      !file.is_constant(weight) || graph.type(weight).shape.rank() != 2) {
    return made;
  }
  const int bias = product.input(2);
  if (bias >= 0 && file.is_constant(bias)) {
    made.biases = {bias};
  } else if (bias >= 0) {
    const int adder = graph.data(bias).producer;
    if (adder < 0) return made;  // an input of the model
    const ir::Node& sum = graph.nodes[static_cast<size_t>(adder)];
    if (std::string_view(sum.op->name) != "add" || !file.is_constant(sum.input(0)) ||
        !file.is_constant(sum.input(1))) {
      return made;
    }
    made.biases = {sum.input(0), sum.input(1)};
    if (file.readers()[static_cast<size_t>(bias)].size() == 1) made.sum = adder;
  }
  made.product = producer;
  made.weight = weight;
  return made;
}

// Blocks of `units` rows in ONNX's order of the gates: block i of the result is block order[i].
std::vector<float> gates(const std::vector<float>& values, const std::vector<int>& order) {
  const size_t block = values.size() / order.size();
  std::vector<float> made;
  for (const int gate : order) {
    const auto first = values.begin() + static_cast<int64_t>(static_cast<size_t>(gate) * block);
    made.insert(made.end(), first, first + static_cast<int64_t>(block));
  }
  return made;
}

class Scan {
 public:
  explicit Scan(Op& op) : op_(op), file_(op.file()), from_(projection_of(op.file(), op.node())) {
    if (op.name() == "lstm_scan") order_ = {0, 3, 1, 2};  // i f g o becomes i o f g
    if (op.name() == "gru_scan") order_ = {1, 0, 2};      // r z n becomes z r n
    if (!op.is_constant(1) || op.type(1).dtype != DType::f32) op.fail("its weights must be known");
    units_ = op.shape(1)[1];
    if (from_.product < 0) {
      op.fail("thimble writes it where a dense layer of its own projects the sequence");
    }
  }

  void write() {
    const auto& a = op_.attrs<ops::ScanAttrs>();
    const ir::Node& product = file_.graph().nodes[static_cast<size_t>(from_.product)];
    Op projecting(file_, from_.product);
    const std::string x = projecting.input(0, {1, 0, 2});
    const int64_t features = file_.graph().type(product.input(0)).shape[2];
    const auto count = static_cast<int64_t>(order_.size());
    const std::string w = weight(from_.weight, {1, count * units_, features});
    const std::string r = weight(op_.node().input(1), {1, count * units_, units_});
    const bool is_gru = op_.name() == "gru_scan";
    const bool is_lstm = op_.name() == "lstm_scan";
    std::vector<std::string> inputs{x, w, r, bias(is_gru ? op_.node().input(2) : -1), ""};
    const int first_state = is_gru ? 3 : 2;
    inputs.push_back(state(first_state));
    if (is_lstm) inputs.push_back(state(3));
    Attributes attributes{{"hidden_size", attribute(units_)},
                          {"direction", attribute(a.reverse ? "reverse" : "forward")}};
    if (is_gru) attributes["linear_before_reset"] = attribute(int64_t{1});
    if (a.relu) op_.fail("thimble writes recurrent layers of tanh alone");
    const char* const name = is_lstm ? "LSTM" : is_gru ? "GRU" : "RNN";
    const std::string y = op_.add(name, inputs, attributes, is_lstm ? 3 : 2);
    // [T, directions, N, units]
    op_.give(0, op_.add("Squeeze", {y, op_.integers({1})}), {1, 0, 2});
    if (is_lstm) cells(a.reverse, y);
  }

 private:
  std::string weight(int value, const Shape& shape) {
    const std::string& name = *file_.graph().data(value).name;
    return file_.add_initializer(name,
                                 {Array(gates(file_.values_of(value).floats(), order_), shape)});
  }

  // Both biases one behind the other. The scan has the hidden one where the reset gate needs it.
  std::string bias(int hidden) {
    std::vector<int> parts = from_.biases;
    const std::string name = parts.empty() && hidden < 0
                                 ? ""
                                 : *file_.graph().data(parts.empty() ? hidden : parts[0]).name;
    if (name.empty()) return "";
    const auto size = static_cast<size_t>(units_) * order_.size();
    std::vector<float> both(parts.empty() ? size : 0, 0.0F);
    if (hidden >= 0) parts.push_back(hidden);
    for (const int part : parts) {
      const std::vector<float> one = gates(file_.values_of(part).floats(), order_);
      both.insert(both.end(), one.begin(), one.end());
    }
    both.resize(2 * size, 0.0F);
    return file_.add_initializer(name,
                                 {Array(std::move(both), {1, static_cast<int64_t>(2 * size)})});
  }

  // [N, units] as [1, N, units].
  std::string state(int i) {
    if (!op_.has(i)) return "";
    return op_.add("Unsqueeze", {op_.input(i), op_.integers({0})});
  }

  // The cells of all steps, of which ONNX gives the last ones.
  void cells(bool reverse, const std::string& y) {
    const int value = op_.node().outputs[1];
    const auto& readers = file_.readers()[static_cast<size_t>(value)];
    const int64_t steps = op_.result(1).shape[1];
    for (const int reader : readers) {
      const ir::Node& node = file_.graph().nodes[static_cast<size_t>(reader)];
      const int64_t last = reverse ? 0 : steps - 1;
      bool fits = std::string_view(node.op->name) == "slice" && node.outputs.size() == 1;
      if (fits) {
        const Shape& part = file_.graph().type(node.outputs[0]).shape;
        const auto& a = node.attrs.as<SliceOptions>();
        fits = part == Shape({kBatch, 1, units_}) && a.axes.size() == 1 &&
               (a.starts[0] == last || a.starts[0] == last - steps);
      }
      if (!fits) op_.fail("such files have its cells after the last step alone");
      file_.absorb(reader);
      // The third result of the node: [directions, N, units].
      Op slice(file_, reader);
      slice.give(0, file_.result_of(y, 2), {1, 0, 2});
    }
  }

  Op& op_;
  FileWriter& file_;
  Projection from_;
  std::vector<int> order_{0};
  int64_t units_ = 0;
};

void scan_of(Op& op) { Scan(op).write(); }

}  // namespace

void absorb_projections(FileWriter& file) {
  for (const ir::Node& node : file.graph().nodes) {
    if (!is_scan(node.op->name)) continue;
    const Projection from = projection_of(file, node);
    if (from.product >= 0) file.absorb(from.product);
    if (from.sum >= 0) file.absorb(from.sum);
  }
}

std::span<const WriteRule> recurrent_writers() {
  static const WriteRule rules[] = {
      {"lstm_scan", scan_of},
      {"gru_scan", scan_of},
      {"rnn_scan", scan_of},
  };
  return rules;
}

}  // namespace thimble::importer::onnx

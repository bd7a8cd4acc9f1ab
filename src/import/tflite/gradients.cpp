#include "import/tflite/gradients.h"

#include <flatbuffers/flexbuffers.h>
#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

#include "import/tflite/write.h"
#include "ir/attrs.h"

namespace thimble::tflite {
namespace {

constexpr int kCustomOperator = 32;

// Masks and random numbers too, which forward graphs do not hand from one operator to another.
int8_t gradient_type(const ir::ValueData& value) {
  const DType dtype = value.type.dtype;
  if (dtype == DType::u8) return kUint8;
  if (dtype == DType::u32) return kUint32;
  if (const int8_t type = type_number(dtype); type >= 0) return type;
  throw Error("gradients", fmt::format("\"{}\" is {}, which circle files do not hold", *value.name,
                                       to_string(dtype)));
}

// "conv2d_weight_grad" becomes "Conv2DWeightGrad".
std::string custom_name(const std::string& op) {
  std::string name;
  char before = '_';
  for (const char c : op) {
    const bool starts = before == '_' || std::isdigit(static_cast<unsigned char>(before)) != 0;
    if (c != '_') {
      name += starts ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    }
    before = c;
  }
  return name;
}

class MapWriter : public ir::FieldVisitor {
 public:
  explicit MapWriter(flexbuffers::Builder& builder) : builder_(builder) {}
  void field(const char* name, bool& value, const char* /*doc*/) override {
    builder_.Bool(name, value);
  }
  void field(const char* name, int64_t& value, const char* /*doc*/) override {
    builder_.Int(name, value);
  }
  void field(const char* name, double& value, const char* /*doc*/) override {
    builder_.Double(name, value);
  }
  void field(const char* name, Pair& value, const char* /*doc*/) override {
    numbers(name, {value.h, value.w});
  }
  void field(const char* name, thimble::Padding& value, const char* /*doc*/) override {
    if (value.automatic) return builder_.String(name, "same");
    numbers(name, {value.top, value.bottom, value.left, value.right});
  }
  void field(const char* name, std::vector<int64_t>& value, const char* /*doc*/) override {
    numbers(name, value);
  }
  void field(const char* name, Shape& value, const char* /*doc*/) override {
    numbers(name, value.dims());
  }
  void field(const char* name, DType& value, const char* /*doc*/) override {
    builder_.String(name, to_string(value));
  }
  void choice(const char* name, int& value, std::span<const char* const> names,
              const char* /*doc*/) override {
    builder_.String(name, names[static_cast<size_t>(value)]);
  }

 private:
  void numbers(const char* name, const std::vector<int64_t>& values) {
    builder_.Vector(name, [&] {
      for (const int64_t value : values) builder_.Int(value);
    });
  }
  flexbuffers::Builder& builder_;
};

class GradientWriter {
 public:
  GradientWriter(const ir::Graph& step, const std::map<std::string, int>& tensors)
      : step_(step), tensors_(tensors) {}

  std::string write() {
    find_forward();
    std::vector<std::unique_ptr<OperatorT>> operators;
    for (size_t n = 0; n < step_.nodes.size(); ++n) {
      if (is_forward_.count(n) == 0) operators.push_back(operation(step_.nodes[n]));
    }
    ModelT model;
    auto graph = std::make_unique<SubGraphT>();
    graph->name = "gradients";
    graph->operators = std::move(operators);
    for (const int id : order_) graph->tensors.push_back(tensor(id));
    std::vector<uint32_t> pairs;
    for (size_t at = 0; at < order_.size(); ++at) {
      const int id = order_[at];
      const ir::ValueData& value = step_.data(id);
      const bool is_made = made_.count(id) > 0;
      if (!is_made && value.role != ir::Role::constant) {
        graph->inputs.push_back(static_cast<int>(at));
        const auto forward = tensors_.find(*value.name);
        if (forward != tensors_.end()) {
          pairs.push_back(static_cast<uint32_t>(at));
          pairs.push_back(static_cast<uint32_t>(forward->second));
        }
      }
      if (is_made && ir::is_persistent(value.role)) graph->outputs.push_back(static_cast<int>(at));
    }
    model.subgraphs.push_back(std::move(graph));
    model.operator_codes = std::move(codes_);
    model.description = "thimble: gradients and updates";
    buffers_.insert(buffers_.begin(), std::make_unique<BufferT>());
    auto inform = std::make_unique<BufferT>();
    pairs.insert(pairs.begin(), static_cast<uint32_t>(pairs.size() / 2));
    for (const uint32_t number : pairs) {
      for (int i = 0; i < 4; ++i) inform->data.push_back(static_cast<uint8_t>(number >> (8 * i)));
    }
    buffers_.push_back(std::move(inform));
    auto metadata = std::make_unique<MetadataT>();
    metadata->name = "ONE_train_inform";
    metadata->buffer = static_cast<uint32_t>(buffers_.size() - 1);
    model.metadata.push_back(std::move(metadata));
    model.buffers = std::move(buffers_);
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(Model::Pack(builder, &model), "CIR0");
    return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
  }

 private:
  // What loss and metrics are computed by.
  void find_forward() {
    std::vector<int> wanted;
    if (step_.loss) wanted.push_back(*step_.loss);
    for (const auto& [name, id] : step_.metrics) wanted.push_back(id);
    while (!wanted.empty()) {
      const int id = wanted.back();
      wanted.pop_back();
      const int producer = id < 0 ? -1 : step_.data(id).producer;
      if (producer < 0 || !is_forward_.insert(static_cast<size_t>(producer)).second) continue;
      const std::vector<int>& inputs = step_.nodes[static_cast<size_t>(producer)].inputs;
      wanted.insert(wanted.end(), inputs.begin(), inputs.end());
    }
  }

  int number(int id) {
    const auto [known, is_new] = number_of_.emplace(id, static_cast<int>(order_.size()));
    if (is_new) order_.push_back(id);
    return known->second;
  }

  std::unique_ptr<TensorT> tensor(int id) {
    const ir::ValueData& value = step_.data(id);
    auto made = std::make_unique<TensorT>();
    for (const int64_t size : value.type.shape.dims()) {
      made->shape.push_back(static_cast<int32_t>(size));
    }
    made->type = gradient_type(value);
    made->name = value.name->empty() ? fmt::format("value_{}", id) : *value.name;
    if (value.role == ir::Role::constant && value.data->elements() > 0) {
      auto buffer = std::make_unique<BufferT>();
      const auto* const from = reinterpret_cast<const uint8_t*>(value.data->bytes().data());
      buffer->data.assign(from, from + value.data->bytes().size());
      buffers_.push_back(std::move(buffer));
      made->buffer = static_cast<uint32_t>(buffers_.size());
    }
    return made;
  }

  std::unique_ptr<OperatorT> operation(const ir::Node& node) {
    const std::string name = custom_name(std::string(node.op->name));
    const auto [known, is_new] = code_of_.emplace(name, static_cast<uint32_t>(codes_.size()));
    if (is_new) {
      auto code = std::make_unique<OperatorCodeT>();
      code->deprecated_builtin_code = kCustomOperator;
      code->builtin_code = kCustomOperator;
      code->custom_code = name;
      codes_.push_back(std::move(code));
    }
    auto made = std::make_unique<OperatorT>();
    made->opcode_index = known->second;
    for (const int id : node.inputs) made->inputs.push_back(id < 0 ? -1 : number(id));
    for (const int id : node.outputs) {
      made->outputs.push_back(number(id));
      made_.insert(id);
    }
    flexbuffers::Builder options;
    options.Map([&] {
      ir::Attrs attrs = node.attrs;
      MapWriter writer(options);
      attrs.visit(writer);
    });
    options.Finish();
    made->custom_options = options.GetBuffer();
    return made;
  }

  const ir::Graph& step_;
  const std::map<std::string, int>& tensors_;
  std::set<size_t> is_forward_;
  std::set<int> made_;
  std::vector<int> order_;
  std::map<int, int> number_of_;
  std::map<std::string, uint32_t> code_of_;
  std::vector<std::unique_ptr<OperatorCodeT>> codes_;
  std::vector<std::unique_ptr<BufferT>> buffers_;
};

}  // namespace

std::string gradient_file(const ir::Graph& step, const std::map<std::string, int>& tensors) {
  return GradientWriter(step, tensors).write();
}

}  // namespace thimble::tflite

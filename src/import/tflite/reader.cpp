#include "import/tflite/reader.h"

#include <thimble/error.h>
#include <thimble/import.h>

#include <algorithm>
#include <set>

#include "import/tflite/node.h"
#include "ir/canonical.h"
#include "ir/graph.h"
#include "ir/names.h"

namespace thimble {
namespace tflite {
namespace {

constexpr int kCustom = 32;
constexpr int kDequantize = 6;

// Operators that are refused, for messages.
constexpr std::pair<int, const char*> kOthers[] = {
    {12, "L2_POOL_2D"},
    {16, "LSTM"},
    {69, "TILE"},
    {77, "SHAPE"},
    {81, "REDUCE_PROD"},
    {118, "IF"},
    {119, "WHILE"},
    {129, "CALL_ONCE"},
    {-1, "BCQ_UNEMBEDDING"},
    {-3, "BCQ_FULLY_CONNECTED"},
    {-4, "BCQ_GATHER"},
    {-5, "GRU"},
    {-7, "ROPE"},
    {-8, "RUN_MODEL"},
    {-9, "ATTENTION"},
};

class NetworkReader {
 public:
  NetworkReader(const File& file, bool results)
      : file_(file), results_(results), building_(file), needed_(file.tensors().size(), 0) {}

  Network run() && {
    check_order();
    for (const int tensor : file_.inputs()) add_input(tensor);
    if (file_.outputs().empty()) fail("it has no outputs");
    find_needed();
    for (size_t i = 0; i < file_.operators().size(); ++i) {
      if (is_needed_[i] != 0) add(i);
    }
    for (const int tensor : file_.outputs()) add_output(tensor);
    return {std::move(building_.graph), std::move(building_.tensor_of),
            std::move(building_.reversed)};
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw Error(file_.name(), message); }

  // A tensor is a constant, an input of the model, or the result of one operator before those that
  // read it.
  void check_order() {
    std::vector<char> is_made(file_.tensors().size(), 0);
    const auto make = [&](int tensor, const std::string& place) {
      char& made = is_made[static_cast<size_t>(tensor)];
      if (made != 0 || !file_.tensor(tensor).data.empty()) {
        fail(fmt::format("{}: tensor {} has a value already", place, tensor));
      }
      made = 1;
    };
    for (const int tensor : file_.inputs()) make(tensor, "the inputs");
    for (size_t i = 0; i < file_.operators().size(); ++i) {
      const OperatorInfo& info = file_.operators()[i];
      const std::string place = fmt::format("operators[{}], {}", i, operator_name(info));
      for (const int tensor : info.outputs) make(tensor, place);
      const bool folds = info.code == kDequantize && info.inputs.size() == 1 &&
                         info.outputs.size() == 1 && info.inputs[0] >= 0 &&
                         !file_.tensor(info.inputs[0]).data.empty();
      is_folded_.push_back(folds ? 1 : 0);
      if (!folds) continue;
      building_.unfolded[static_cast<size_t>(info.outputs[0])] = info.inputs[0];
      if (file_.tensor(info.outputs[0]).shape != file_.tensor(info.inputs[0]).shape) {
        fail(place + ": its result has another shape than its input");
      }
    }
  }

  // The name of a tensor, or another where it is none for an input or output.
  std::string name_of(int tensor, const char* kind, std::set<std::string>& taken) const {
    std::string name = file_.tensor(tensor).name;
    if (!ir::name_error(name).empty() || ir::is_own_name(name)) {
      name = fmt::format("{}_{}", kind, tensor);
    }
    while (!taken.insert(name).second) name += "_";
    return name;
  }

  void add_input(int tensor) {
    const TensorInfo& info = file_.tensor(tensor);
    const std::string place = fmt::format("tensors[{}], an input", tensor);
    const Shape& shape = info.shape;
    if (shape.rank() == 0 || shape[0] < 1) {
      fail(fmt::format("{}: expected the batch as dimension 0, got {}", place, to_string(shape)));
    }
    if (tensor != file_.inputs()[0] && shape[0] != building_.batch) {
      fail(fmt::format("{}: expected the batch {} as dimension 0, as of the first input, got {}",
                       place, building_.batch, to_string(shape)));
    }
    building_.batch = shape[0];
    const DType dtype = type_of(place, info);
    Quantization q = dtype == DType::i8 ? info.quantization : Quantization{};
    if (dtype == DType::i8 && q.scales.size() != 1) {
      fail(place + ": expected one scale for int8");
    }
    const Shape sample(std::vector<int64_t>(shape.dims().begin() + 1, shape.dims().end()));
    const std::string name = name_of(tensor, "input", input_names_);
    building_.values[static_cast<size_t>(tensor)] =
        named(place, [&] { return building_.graph.input(name, sample, dtype, q); });
  }

  [[nodiscard]] DType type_of(const std::string& place, const TensorInfo& info) const {
    switch (info.type) {
      case kFloat32:
        return DType::f32;
      case kInt32:
        return DType::i32;
      case kInt8:
        return DType::i8;
      case kUint8:
        fail(place + ": is uint8; thimble reads int8: convert the model with a newer converter");
      default:
        fail(
            fmt::format("{}: expected float32, int8 or int32, got type {}", place, int{info.type}));
    }
  }

  // Operators that an output depends on, settings of ops such as RESHAPE left out.
  void find_needed() {
    for (const int tensor : file_.outputs()) needed_[static_cast<size_t>(tensor)] = 1;
    is_needed_.assign(file_.operators().size(), 0);
    for (size_t i = file_.operators().size(); i-- > 0;) {
      const OperatorInfo& info = file_.operators()[i];
      const bool needed = std::any_of(info.outputs.begin(), info.outputs.end(), [this](int id) {
        return needed_[static_cast<size_t>(id)] != 0;
      });
      if (!needed || is_folded_[i] != 0) continue;
      is_needed_[i] = 1;
      const Rule* const rule = find_rule(info.code);
      if (rule == nullptr) refuse(i);
      const size_t count =
          rule->data_inputs == 0
              ? info.inputs.size()
              : std::min(info.inputs.size(), static_cast<size_t>(rule->data_inputs));
      for (size_t k = 0; k < count; ++k) {
        if (info.inputs[k] >= 0) needed_[static_cast<size_t>(info.inputs[k])] = 1;
      }
    }
  }

  [[noreturn]] void refuse(size_t i) const {
    fail(fmt::format("operators[{}]: thimble does not read {}", i,
                     operator_name(file_.operators()[i])));
  }

  // make(), whose errors are given the file and the place.
  template <class Make>
  std::invoke_result_t<const Make&> named(const std::string& place, const Make& make) const {
    try {
      return make();
    } catch (const Error& error) {
      if (error.where() == file_.name()) throw;
      throw Error(file_.name(), fmt::format("{}: {}", place, error.what()));
    }
  }

  void add(size_t i) {
    const OperatorInfo& info = file_.operators()[i];
    const Rule& rule = *find_rule(info.code);
    Node node(building_, i);
    const std::string place = fmt::format("operators[{}], {}", i, rule.name);
    named(place, [&] { rule.build(node); });
    for (const int tensor : info.outputs) {
      if (!building_.values[static_cast<size_t>(tensor)] && needed_[static_cast<size_t>(tensor)]) {
        fail(fmt::format("{}: has no output for tensor {}", place, tensor));
      }
    }
    if (!results_) return;
    building_.graph.output(std::to_string(i),
                           building_.values[static_cast<size_t>(info.outputs[0])]);
  }

  void add_output(int tensor) {
    const std::string place = fmt::format("tensors[{}], an output", tensor);
    const Value& value = building_.values[static_cast<size_t>(tensor)];
    if (!value) fail(place + ": no operator makes it");
    const std::string name = name_of(tensor, "output", output_names_);
    named(place, [&] { building_.graph.output(name, value); });
  }

  const File& file_;
  bool results_;
  Building building_;
  std::vector<char> needed_;     // by tensor
  std::vector<char> is_needed_;  // by operator
  std::vector<char> is_folded_;  // by operator: DEQUANTIZE of a constant
  std::set<std::string> input_names_;
  std::set<std::string> output_names_;
};

}  // namespace

const Rule* find_rule(int code) {
  for (const std::span<const Rule> rules :
       {layer_rules(), recurrent_rules(), pool_rules(), element_rules(), shape_rules()}) {
    for (const Rule& rule : rules) {
      if (rule.code == code) return &rule;
    }
  }
  return nullptr;
}

std::string operator_name(const OperatorInfo& info) {
  if (info.code == kCustom) return "the custom operator " + info.custom;
  if (const Rule* const rule = find_rule(info.code)) return rule->name;
  for (const auto& [code, name] : kOthers) {
    if (code == info.code) return name;
  }
  return fmt::format("operator {}", info.code);
}

Network read_network(const File& file, bool results) { return NetworkReader(file, results).run(); }

}  // namespace tflite

Graph import_tflite(const std::string& path) {
  const tflite::File file = tflite::File::read(path);
  return tflite::read_network(file).graph;
}

}  // namespace thimble

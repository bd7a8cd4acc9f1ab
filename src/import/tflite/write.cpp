#include "import/tflite/write.h"

#include <thimble/error.h>
#include <thimble/export.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "passes/passes.h"

namespace thimble {
namespace tflite {

namespace fb = flatbuffers;

using importer::is_of_batch;

namespace {

constexpr int kPlaceholder = 127;

// Element place(i) of `from` becomes element i.
template <class Place>
Array rearranged(const Array& from, const Shape& shape, const Place& place) {
  const auto size = static_cast<size_t>(bits(from.dtype()) / 8);
  std::vector<std::byte> to(from.bytes().size());
  for (int64_t i = 0; i < from.elements(); ++i) {
    std::memcpy(to.data() + static_cast<size_t>(i) * size,
                from.bytes().data() + static_cast<size_t>(place(i)) * size, size);
  }
  return Array::of_bytes(from.dtype(), shape, std::move(to));
}

Array in_layout(const Array& from, Written layout) {
  const Shape& s = from.shape();
  if (layout == Written::same) return from;
  if (s.rank() == 2) {
    return rearranged(from, {s[1], s[0]}, [&](int64_t i) { return i % s[0] * s[1] + i / s[0]; });
  }
  const int64_t taps = s[1] * s[2];
  if (layout == Written::depthwise) {
    return rearranged(from, {1, s[1], s[2], s[0]},
                      [&](int64_t i) { return i % s[0] * taps + i / s[0]; });
  }
  return rearranged(from, {s[3], s[1], s[2], s[0]}, [&](int64_t i) {
    const int64_t tap = i / s[0] % taps;
    return (i % s[0] * taps + tap) * s[3] + i / s[0] / taps;
  });
}

// The axis of scales after weights were put in a layout.
int moved_axis(int axis, int rank, Written layout) {
  if (layout == Written::depthwise) return 3;
  return layout == Written::transposed ? rank - 1 - axis : axis;
}

bool are_equal(const std::vector<float>& scales) {
  return std::all_of(scales.begin(), scales.end(), [&](float s) { return s == scales[0]; });
}

std::vector<int32_t> as_int32(const std::vector<int64_t>& sizes) {
  return {sizes.begin(), sizes.end()};
}

}  // namespace

int8_t type_number(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return kFloat32;
    case DType::i32:
      return kInt32;
    case DType::i64:
      return kInt64;
    case DType::i8:
      return kInt8;
    case DType::boolean:
      return kBool;
    default:
      return -1;
  }
}

ActivationFunction function_of(Activation activation) {
  if (activation == Activation::relu) return ActivationFunction_RELU;
  return activation == Activation::relu6 ? ActivationFunction_RELU6 : ActivationFunction_NONE;
}

std::vector<int64_t> written_sizes(const Shape& shape) {
  std::vector<int64_t> sizes = shape.dims();
  for (int64_t& size : sizes) {
    if (is_of_batch(size)) size /= kBatch;
  }
  return sizes;
}

std::vector<int64_t> open_sizes(const Shape& shape) {
  std::vector<int64_t> sizes = written_sizes(shape);
  if (!sizes.empty() && is_of_batch(shape[0])) sizes[0] = -1;
  return sizes;
}

FileWriter::FileWriter(const ir::Graph& graph, const std::string& path)
    : WrittenGraph(graph, path), is_circle_(path.ends_with(".circle")) {
  for (const auto& [name, id] : graph.outputs) output_names_.emplace(id, name);
}

int FileWriter::add_tensor(TensorText tensor) {
  const DType dtype = tensor.type.dtype;
  if (type_number(dtype) < 0) {
    fail(fmt::format("{} is {}, which such files do not hold", tensor.name, to_string(dtype)));
  }
  for (int axis = 1; axis < tensor.type.shape.rank(); ++axis) {
    if (is_of_batch(tensor.type.shape[axis])) {
      fail(fmt::format("{} has the shape {}: the batch must be dimension 0", tensor.name,
                       to_string(tensor.type.shape)));
    }
  }
  if (tensor.is_constant) count(tensor.data);
  tensors_.push_back(std::move(tensor));
  return static_cast<int>(tensors_.size()) - 1;
}

int FileWriter::tensor_of(int value, Written layout) {
  const auto found = tensor_by_value_.find({value, static_cast<int>(layout)});
  if (found != tensor_by_value_.end()) return found->second;
  const ir::ValueData& data = graph().data(value);
  TensorText tensor{*data.name, data.type, {}, false};
  const auto output = output_names_.find(value);
  if (output != output_names_.end()) tensor.name = output->second;
  if (tensor.name.empty()) tensor.name = fmt::format("value_{}", value);
  if (is_constant(value)) {
    tensor.is_constant = true;
    tensor.data = in_layout(values_of(value), layout);
    tensor.type.shape = tensor.data.shape();
    if (data.type.quantization != nullptr && data.type.quantization->axis) {
      Quantization q = *data.type.quantization;
      q.axis = moved_axis(*q.axis, data.type.shape.rank(), layout);
      tensor.type.quantization = std::make_shared<const Quantization>(std::move(q));
    }
  }
  return tensor_by_value_[{value, static_cast<int>(layout)}] = add_tensor(std::move(tensor));
}

std::string FileWriter::run() && {
  // Inputs are the first tensors.
  for (size_t id = 0; id < graph().values.size(); ++id) {
    const ir::ValueData& data = graph().values[id];
    if (data.producer >= 0) continue;
    if (data.role == ir::Role::input) {
      static_cast<void>(tensor_of(static_cast<int>(id), Written::same));
    }
  }
  for (const ir::Node& node : graph().nodes) {
    Op op(*this, node);
    importer::write_by_rule(op, {layer_writers(), attention_writers(), element_writers(),
                                 recurrent_writers(), shape_writers()});
  }
  return finish();
}

std::string FileWriter::finish() {
  std::vector<fb::Offset<Buffer>> buffers{CreateBuffer(builder_)};
  std::vector<fb::Offset<Tensor>> tensors;
  for (const TensorText& tensor : tensors_) {
    uint32_t buffer = 0;
    if (tensor.is_constant && !tensor.data.bytes().empty()) {
      const auto bytes = tensor.data.bytes();
      builder_.ForceVectorAlignment(bytes.size(), 1, 16);
      const auto data =
          builder_.CreateVector(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
      buffers.push_back(CreateBuffer(builder_, data));
      buffer = static_cast<uint32_t>(buffers.size() - 1);
    }
    fb::Offset<QuantizationParameters> quantization = 0;
    if (tensor.type.quantization != nullptr && !tensor.type.quantization->scales.empty()) {
      const Quantization& q = *tensor.type.quantization;
      std::vector<int64_t> zeros(q.scales.size(), 0);
      std::copy(q.zero_points.begin(), q.zero_points.end(), zeros.begin());
      const auto scales = builder_.CreateVector(q.scales);
      const auto zero_points = builder_.CreateVector(zeros);
      QuantizationParametersBuilder made(builder_);
      made.add_scale(scales);
      made.add_zero_point(zero_points);
      made.add_quantized_dimension(q.axis.value_or(0));
      quantization = made.Finish();
    }
    const auto name = builder_.CreateString(tensor.name);
    const auto shape = builder_.CreateVector(as_int32(written_sizes(tensor.type.shape)));
    const std::vector<int64_t> open = open_sizes(tensor.type.shape);
    fb::Offset<fb::Vector<int32_t>> signature = 0;
    if (!open.empty() && open[0] == -1) signature = builder_.CreateVector(as_int32(open));
    TensorBuilder made(builder_);
    made.add_shape(shape);
    made.add_type(type_number(tensor.type.dtype));
    made.add_buffer(buffer);
    made.add_name(name);
    if (!quantization.IsNull()) made.add_quantization(quantization);
    if (!signature.IsNull()) made.add_shape_signature(signature);
    tensors.push_back(made.Finish());
  }
  std::vector<int32_t> inputs;
  for (size_t id = 0; id < graph().values.size(); ++id) {
    const ir::ValueData& data = graph().values[id];
    if (data.producer < 0 && data.role == ir::Role::input) {
      inputs.push_back(tensor_of(static_cast<int>(id), Written::same));
    }
  }
  std::vector<int32_t> outputs;
  for (const auto& [name, id] : graph().outputs) outputs.push_back(tensor_of(id, Written::same));
  const auto graph =
      CreateSubGraph(builder_, builder_.CreateVector(tensors), builder_.CreateVector(inputs),
                     builder_.CreateVector(outputs), builder_.CreateVector(operators_),
                     builder_.CreateString("main"));
  std::vector<fb::Offset<OperatorCode>> codes;
  for (const Code& code : code_order_) {
    codes.push_back(CreateOperatorCode(builder_,
                                       static_cast<int8_t>(std::min(code.code, kPlaceholder)), 0,
                                       code.version, code.code));
  }
  const auto all_codes = builder_.CreateVector(codes);
  const auto graphs = builder_.CreateVector(std::vector<fb::Offset<SubGraph>>{graph});
  const auto description = builder_.CreateString("thimble");
  const auto all_buffers = builder_.CreateVector(buffers);
  ModelBuilder model(builder_);
  model.add_version(is_circle_ ? 0 : 3);
  model.add_operator_codes(all_codes);
  model.add_subgraphs(graphs);
  model.add_description(description);
  model.add_buffers(all_buffers);
  builder_.Finish(model.Finish(), is_circle_ ? "CIR0" : "TFL3");
  return {reinterpret_cast<const char*>(builder_.GetBufferPointer()), builder_.GetSize()};
}

Op::Op(FileWriter& file, const ir::Node& node) : WrittenOp(file, node), file_(file) {}

int Op::input(int i, Written layout) {
  static_cast<void>(type(i));
  return file_.tensor_of(node().input(i), layout);
}

int Op::bias(int i, int64_t channels, int x, int weight, bool joins_equal) {
  if (type(x).dtype != DType::i8) {
    if (has(i)) return input(i);
    return floats(std::vector<float>(static_cast<size_t>(channels), 0.0F), {channels});
  }
  const Quantization& of_weight = *type(weight).quantization;
  Quantization q;
  for (const float scale : of_weight.scales)
    q.scales.push_back(type(x).quantization->scales[0] * scale);
  if (joins_equal && are_equal(q.scales)) q.scales.resize(1);
  q.zero_points.resize(q.scales.size(), 0);
  if (q.scales.size() > 1) q.axis = 0;
  const Array numbers = has(i) ? values(i) : Array(DType::i32, {channels});
  const ir::TensorType made{
      DType::i32, {channels}, std::make_shared<const Quantization>(std::move(q))};
  const std::string name = has(i) ? *file_.graph().data(node().input(i)).name : "bias";
  return file_.add_tensor({name, made, numbers, true});
}

int Op::rows(int i) {
  const ir::TensorType& from = type(i);
  const std::vector<float>& scales = from.quantization->scales;
  if (!are_equal(scales) || !is_constant(i)) return input(i);
  const ir::TensorType made{
      from.dtype, from.shape,
      std::make_shared<const Quantization>(Quantization{{scales[0]}, {}, std::nullopt})};
  return file_.add_tensor({*file_.graph().data(node().input(i)).name, made, values(i), true});
}

int Op::like_input(double value) {
  if (!is_int8()) return number(value);
  return file_.add_tensor({"constant",
                           {DType::i8, {}, type(0).quantization},
                           Array(std::vector<int8_t>{static_cast<int8_t>(value)}, {}),
                           true});
}

int Op::numbers(const std::vector<int64_t>& values) {
  return numbers(values, {static_cast<int64_t>(values.size())});
}
int Op::numbers(const std::vector<int64_t>& values, const Shape& shape) {
  return file_.add_tensor({"numbers", {DType::i32, shape}, Array(as_int32(values), shape), true});
}
int Op::number(double value) { return floats({static_cast<float>(value)}, {}); }
int Op::floats(const std::vector<float>& values, const Shape& shape) {
  return file_.add_tensor({"constant", {DType::f32, shape}, Array(values, shape), true});
}
int Op::between(const Shape& shape) {
  return between(ir::TensorType{result().dtype, shape, result().quantization});
}
int Op::between(const ir::TensorType& type) {
  return file_.add_tensor({fmt::format("between_{}", file_.tensors_.size()), type, {}, false});
}
int Op::output(int i) {
  return file_.tensor_of(node().outputs[static_cast<size_t>(i)], Written::same);
}

fb::FlatBufferBuilder& Op::builder() { return file_.builder_; }

void Op::add(int code, int version, const Options& options, const std::vector<int>& from,
             const std::vector<int>& to) {
  const auto [found, is_new] = file_.codes_.emplace(
      FileWriter::Code{code, version}, static_cast<uint32_t>(file_.code_order_.size()));
  if (is_new) file_.code_order_.push_back({code, version});
  const auto inputs = builder().CreateVector(from);
  const auto outputs = builder().CreateVector(to);
  file_.operators_.push_back(
      CreateOperator(builder(), found->second, inputs, outputs, options.type, options.table));
}

int Op::reshaped(int x, const Shape& shape, int to) {
  if (to < 0) to = between(shape);
  const auto sizes = builder().CreateVector(as_int32(open_sizes(shape)));
  add(22, 1, options(BuiltinOptions_ReshapeOptions, CreateReshapeOptions(builder(), sizes)),
      {x, numbers(open_sizes(shape))}, {to});
  return to;
}

void Op::pass() {
  const int y = node().outputs[0];
  if (file_.output_names_.count(y) != 0) {  // it has a name of its own
    static_cast<void>(reshaped(input(0), result().shape, output()));
    return;
  }
  file_.tensor_by_value_[{y, static_cast<int>(Written::same)}] = input(0);
}

void Op::give(const std::vector<float>& values) {
  const int y = node().outputs[0];
  const auto named = file_.output_names_.find(y);
  file_.tensor_by_value_[{y, static_cast<int>(Written::same)}] =
      file_.add_tensor({named == file_.output_names_.end() ? "constant" : named->second, result(),
                        Array(values, result().shape), true});
}

}  // namespace tflite

void export_tflite(const Graph& graph, const std::string& path) {
  const ir::Graph forward = passes::fuse_epilogues(importer::inference_graph(graph, path));
  importer::write_whole(path, tflite::FileWriter(forward, path).run());
}

}  // namespace thimble

#include <fmt/format.h>
#include <thimble/import.h>
#include <thimble/ops.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>

#include "import/quantized_json.h"
#include "io/atomic_file.h"
#include "io/json/parse.h"
#include "io/model/fields.h"
#include "ir/canonical.h"
#include "ir/graph.h"

namespace thimble {
namespace {

using io::Fields;
using nlohmann::json;

constexpr size_t kMostBytes = 64 << 20;
constexpr int kMostDepth = 16;
constexpr size_t kMostNodes = 10000;
constexpr int64_t kLargestSize = 1 << 20;
// A file names its layout and its rules. These are the only ones that the importer knows.
constexpr const char* kLayout = "NHWC, weights [out,kh,kw,in] (depthwise: [out,kh,kw,1])";
constexpr const char* kSemantics =
    "conv: acc=sum((x-input_zero_point)*w)+bias in int32; padding contributes zero after the zero "
    "point is subtracted; y=clamp(round_half_even(float32(acc)*requant[k])+output_zero_point,"
    "-128,127); add: y=clamp(round(((a-z0)*s0+(b-z1)*s1)/s_out)+z_out)";
// The file's factors are rounded in another order than ours.
constexpr double kFactorTolerance = 0x1p-21;

class Importer {
 public:
  Importer(const std::string& path, std::string_view text, io::Safetensors weights)
      : path_(path),
        text_(io::parse_json({.file = path}, text, kMostDepth)),
        weights_(std::move(weights)) {}

  Graph run() {
    const Fields model(path_, "the network", text_,
                       {"name", "layout", "semantics", "input", "golden_input", "golden", "nodes"});
    check_texts(model);
    const Fields input(path_, "input", model.at("input"), {"shape", "scale", "zero_point"});
    const Shape shape = image_of(input, "shape");
    values_["input"] = named("input", [&] {
      return graph_.input("input", {shape[1], shape[2], shape[3]}, DType::i8,
                          quantization_of(input, "scale", "zero_point"));
    });
    const json& nodes = model.list("nodes", kMostNodes);
    if (nodes.empty()) model.expected("nodes", "at least one node", nodes);
    Value last;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const std::string node = fmt::format("nodes[{}]", i);
      last = named(node, [&] { return add_node(node, nodes[i]); });
    }
    check_all_used();
    named("nodes", [&] { graph_.output("logits", flatten(last)); });
    return std::move(graph_);
  }

 private:
  // make(), whose errors are given the file and the entry at fault.
  template <class Make>
  std::invoke_result_t<const Make&> named(const std::string& entry, const Make& make) const {
    try {
      return make();
    } catch (const Error& error) {
      if (error.where() == path_ || error.where() == weights_.name()) throw;
      throw Error(path_, fmt::format("{}: {}", entry, error.what()));
    }
  }

  static void check_texts(const Fields& model) {
    if (const json* name = model.find("name"); name != nullptr && !name->is_string()) {
      model.expected("name", "text", *name);
    }
    const std::pair<const char*, const char*> fixed[] = {{"layout", kLayout},
                                                         {"semantics", kSemantics}};
    for (const auto& [field, wanted] : fixed) {
      const json* const given = model.find(field);
      if (given != nullptr && *given != wanted) {
        model.expected(field, fmt::format("\"{}\", or left out", wanted), *given);
      }
    }
  }

  static int64_t whole(const Fields& fields, const char* name, const json& value, int64_t low,
                       int64_t high) {
    const bool fits = value.is_number_integer() &&
                      (!value.is_number_unsigned() ||
                       value.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX)) &&
                      value.get<int64_t>() >= low && value.get<int64_t>() <= high;
    if (!fits) fields.expected(name, fmt::format("a whole number from {} to {}", low, high), value);
    return value.get<int64_t>();
  }
  static int64_t whole(const Fields& fields, const char* name, int64_t low, int64_t high) {
    return whole(fields, name, fields.at(name), low, high);
  }
  static float scale(const Fields& fields, const char* name, const json& value) {
    const double number = value.is_number() ? value.get<double>() : 0.0;
    const auto held = static_cast<float>(number);
    if (!std::isfinite(held) || !(held > 0.0F)) {
      fields.expected(name, "a scale that f32 holds and that is above 0", value);
    }
    return held;
  }

  // A list of `count` items.
  static const json& items(const Fields& fields, const char* name, size_t count) {
    const json& list = fields.list(name, count);
    if (list.size() != count) fields.expected(name, fmt::format("{} items", count), list);
    return list;
  }
  // One image: [1, H, W, C].
  static Shape image_of(const Fields& fields, const char* name) {
    const json& list = items(fields, name, 4);
    std::vector<int64_t> dims;
    for (const json& size : list) dims.push_back(whole(fields, name, size, 1, kLargestSize));
    if (dims[0] != 1) fields.expected(name, "[1, height, width, channels]", list);
    return Shape(std::move(dims));
  }

  static Quantization quantization_of(const Fields& fields, const char* scale_name,
                                      const char* zero_name) {
    return ir::canonical({{scale(fields, scale_name, fields.at(scale_name))},
                          {static_cast<int32_t>(whole(fields, zero_name, -128, 127))}});
  }

  static int64_t zero_point(const Quantization& q) {
    return q.zero_points.empty() ? 0 : q.zero_points[0];
  }

  // The value of an earlier node, which must have this quantization.
  Value source(const Fields& fields, const char* field, const json& name, const Quantization& q) {
    const auto found = name.is_string() ? values_.find(name.get<std::string>()) : values_.end();
    if (found == values_.end()) fields.expected(field, "the name of an earlier value", name);
    if (*found->second.quantization() != q) {
      fields.fail(fmt::format("its scale and zero point of {} are not those of that value",
                              io::printable(name)));
    }
    return found->second;
  }

  // The tensor that a field names, which must have this type and shape.
  Array tensor(const Fields& fields, const char* field, DType dtype, const Shape& shape) {
    const std::string name = fields.name(field);
    const io::TensorView* const found = weights_.find(name);
    if (found == nullptr) {
      fields.fail(fmt::format("{} names the tensor {}, which {} does not have", field,
                              io::printable(name), weights_.name()));
    }
    if (found->dtype != dtype || found->shape != shape) {
      fields.fail(fmt::format("expected the tensor {} to be {}{}, {} has {}{}", io::printable(name),
                              to_string(dtype), to_string(shape), weights_.name(),
                              to_string(found->dtype), to_string(found->shape)));
    }
    used_.insert(name);
    return Array::of_bytes(dtype, shape, {found->bytes.begin(), found->bytes.end()});
  }

  Value parameter(const std::string& name, const Array& values, const Quantization& q = {}) {
    const Value made = graph_.parameter(name, values.shape(), init::zeros(), values.dtype(), q);
    graph_.ir().values[static_cast<size_t>(made.id())].data = values;
    return made;
  }

  Value add_node(const std::string& path, const json& node) {
    if (!node.is_object()) throw Error(path_, path + " is no object");
    const auto kind = node.find("op");
    const std::string op =
        kind != node.end() && kind->is_string() ? kind->get<std::string>() : std::string();
    if (op == "conv2d" || op == "depthwise_conv2d") return convolution(path, node, op != "conv2d");
    if (op == "add") return addition(path, node);
    if (op == "global_average_pool") return pooling(path, node);
    throw Error(path_, fmt::format("{}.op: expected conv2d, depthwise_conv2d, add or "
                                   "global_average_pool, got {}",
                                   path, kind == node.end() ? "nothing" : io::printable(*kind)));
  }

  // Checks the shape of a node's result and adds it to the values that later nodes name.
  Value result(const Fields& fields, Value made) {
    const Shape wanted = image_of(fields, "output_shape");
    const Shape& got = made.shape();
    if (got[1] != wanted[1] || got[2] != wanted[2] || got[3] != wanted[3]) {
      fields.expected("output_shape", fmt::format("[1, {}, {}, {}]", got[1], got[2], got[3]),
                      fields.at("output_shape"));
    }
    if (!values_.emplace(fields.name("output"), made).second) {
      fields.fail("two values have the name of its output");
    }
    return made;
  }

  Value convolution(const std::string& path, const json& node, bool depthwise) {
    const Fields fields(
        path_, path, node,
        {"op", "name", "input", "output", "kernel", "stride", "padding", "groups", "input_shape",
         "output_shape", "input_scale", "input_zero_point", "output_scale", "output_zero_point",
         "weight", "weight_scale", "bias", "requant"});
    const Quantization from = quantization_of(fields, "input_scale", "input_zero_point");
    const Quantization to = quantization_of(fields, "output_scale", "output_zero_point");
    const Value x = source(fields, "input", fields.at("input"), from);
    const Shape in = image_of(fields, "input_shape");
    if (in[1] != x.shape()[1] || in[2] != x.shape()[2] || in[3] != x.shape()[3]) {
      fields.expected("input_shape", "the shape of its input", fields.at("input_shape"));
    }
    const int64_t channels = image_of(fields, "output_shape")[3];
    const json& window = items(fields, "kernel", 2);
    const int64_t groups = whole(fields, "groups", 1, in[3]);
    if (in[3] % groups != 0 || (depthwise && groups != in[3])) {
      fields.expected("groups", depthwise ? "the number of channels" : "a divisor of the channels",
                      fields.at("groups"));
    }
    const Shape weight_shape{channels, whole(fields, "kernel", window[0], 1, kLargestSize),
                             whole(fields, "kernel", window[1], 1, kLargestSize), in[3] / groups};
    const Array weight = tensor(fields, "weight", DType::i8, weight_shape);
    const Array scales = tensor(fields, "weight_scale", DType::f32, {channels});
    const Array bias = tensor(fields, "bias", DType::i32, {channels});
    check_factors(fields, tensor(fields, "requant", DType::f32, {channels}), scales, from, to);
    const ir::LayerScope layer(graph_.ir(), "quantized_conv2d", fields.name("name"));
    const std::string& name = layer.name();
    Quantization of_weight{.scales = scales.floats(), .zero_points = {}, .axis = 0};
    const Value w = parameter(name + ".weight", weight, of_weight);
    const Value b = parameter(name + ".bias", bias);
    return result(fields, quantized_conv2d(x, w, b,
                                           {.stride = whole(fields, "stride", 1, kLargestSize),
                                            .padding = whole(fields, "padding", 0, kLargestSize),
                                            .groups = groups,
                                            .scale = static_cast<double>(to.scales[0]),
                                            .zero_point = zero_point(to)}));
  }

  // The factors follow from the scales; the file has them, too.
  void check_factors(const Fields& fields, const Array& factors, const Array& scales,
                     const Quantization& from, const Quantization& to) {
    const auto given = factors.as<float>();
    const auto weight = scales.as<float>();
    for (size_t k = 0; k < given.size(); ++k) {
      const double wanted = static_cast<double>(from.scales[0]) * static_cast<double>(weight[k]) /
                            static_cast<double>(to.scales[0]);
      if (std::abs(static_cast<double>(given[k]) - wanted) <= kFactorTolerance * wanted) continue;
      fields.fail(fmt::format("the factor of channel {} in {} is {}, but its scales give {}", k,
                              fields.name("requant"), given[k], wanted));
    }
  }

  Value addition(const std::string& path, const json& node) {
    const Fields fields(path_, path, node,
                        {"op", "name", "inputs", "output", "input_scales", "input_zero_points",
                         "output_scale", "output_zero_point", "output_shape"});
    const json& inputs = items(fields, "inputs", 2);
    const json& scales = items(fields, "input_scales", 2);
    const json& zeros = items(fields, "input_zero_points", 2);
    static_cast<void>(fields.name("name"));
    Value parts[2];
    for (size_t i = 0; i < 2; ++i) {
      const auto zero = whole(fields, "input_zero_points", zeros[i], -128, 127);
      parts[i] = source(fields, "inputs", inputs[i],
                        ir::canonical({{scale(fields, "input_scales", scales[i])},
                                       {static_cast<int32_t>(zero)}}));
    }
    if (parts[0].shape() != parts[1].shape()) {
      fields.expected("inputs",
                      fmt::format("two values of one shape, which {} and {} are not",
                                  to_string(parts[0].shape()), to_string(parts[1].shape())),
                      inputs);
    }
    const Quantization to = quantization_of(fields, "output_scale", "output_zero_point");
    return result(fields, quantized_add(parts[0], parts[1],
                                        {.scale = static_cast<double>(to.scales[0]),
                                         .zero_point = zero_point(to)}));
  }

  Value pooling(const std::string& path, const json& node) {
    const Fields fields(path_, path, node,
                        {"op", "name", "input", "output", "rounding", "output_shape"});
    static_cast<void>(fields.name("name"));
    if (fields.text("rounding") != "nearest, ties to even") {
      fields.expected("rounding", "\"nearest, ties to even\"", fields.at("rounding"));
    }
    const json& name = fields.at("input");
    const auto found = name.is_string() ? values_.find(name.get<std::string>()) : values_.end();
    if (found == values_.end()) fields.expected("input", "the name of an earlier value", name);
    const Value x = found->second;
    return result(fields, quantized_average_pool2d(x, {.kernel = {x.shape()[1], x.shape()[2]}}));
  }

  // A tensor that no node reads means another network.
  void check_all_used() const {
    for (const io::TensorView& tensor : weights_.tensors()) {
      if (used_.count(tensor.name) > 0) continue;
      throw Error(weights_.name(), fmt::format("no node of {} reads its tensor {}", path_,
                                               io::printable(tensor.name)));
    }
  }

  const std::string path_;
  const json text_;
  io::Safetensors weights_;
  std::set<std::string> used_;
  std::map<std::string, Value> values_;
  Graph graph_;
};

std::string weights_file(const std::string& path) {
  const std::string file = importer::quantized_json_weights(path);
  if (!std::filesystem::exists(file)) {
    throw Error(path, fmt::format("its weights are missing: there is no file {}", file));
  }
  return file;
}

}  // namespace

namespace importer {

std::string quantized_json_weights(const std::string& path) {
  return std::filesystem::path(path).replace_extension(".safetensors").string();
}

Graph quantized_json(const std::string& path, std::string_view text, io::Safetensors weights) {
  return Importer(path, text, std::move(weights)).run();
}

}  // namespace importer

Graph import_quantized_json(const std::string& path) {
  const std::string text = io::read_file(path, kMostBytes);
  return importer::quantized_json(path, text, io::Safetensors::read(weights_file(path)));
}

}  // namespace thimble

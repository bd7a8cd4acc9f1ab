#include <fmt/format.h>
#include <thimble/lora.h>
#include <thimble/ops.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "import/lora/adapters.h"
#include "ir/element.h"
#include "ir/rewrite.h"

namespace thimble {
namespace {

constexpr int64_t kGroup = 64;
constexpr const char* kScales = ".scales";

// How a node reads a weight.
enum class Use : uint8_t { product, table };

class StoringWeights {
 public:
  StoringWeights(const ir::Graph& from, DType dtype) : from_(from), dtype_(dtype) {}

  Graph run() && {
    find_weights();
    if (types_.empty()) throw Error("store_weights", "the model has no weights to store so");
    ir::Rewriter rewriter(from_, [this](int id) { return types_.count(id) == 0; });
    for (const auto& [id, type] : types_) add_weight(id, type, rewriter.graph());
    for (const ir::Node& node : from_.nodes) add_node(node, rewriter);
    Graph made;
    made.ir() = std::move(rewriter).finish();
    return made;
  }

 private:
  [[nodiscard]] static std::string_view op(const ir::Node& node) { return node.op->name; }

  // The weight that a node reads so that a narrow type could take its place.
  [[nodiscard]] std::optional<std::pair<int, Use>> use_of(const ir::Node& node) const {
    if (op(node) == "matmul" && importer::lora::is_linear(node)) {
      const auto layer = importer::lora::layer_of(from_, node);
      if (layer) return std::pair(layer->weight, Use::product);
    }
    if (op(node) == "embedding" &&
        node.attrs.full_text() == ir::Attrs::of(EmbeddingAttrs{}).full_text()) {
      return std::pair(node.input(1), Use::table);
    }
    return std::nullopt;
  }

  void find_weights() {
    std::map<int, int> narrow;  // how many nodes read it so
    std::map<int, bool> is_table;
    std::map<int, int> all;
    for (const ir::Node& node : from_.nodes) {
      for (const int id : node.inputs) ++all[id];
      if (const auto use = use_of(node)) {
        ++narrow[use->first];
        is_table[use->first] = is_table[use->first] || use->second == Use::table;
      }
    }
    for (const auto& [id, count] : narrow) {
      const ir::ValueData& data = from_.data(id);
      const bool has_values = data.data->elements() == data.type.shape.elements();
      if (data.producer >= 0 || data.role != ir::Role::parameter || count != all[id]) continue;
      if (data.type.dtype != DType::f32 || !has_values || data.type.shape.elements() == 0) continue;
      const bool is_odd = dtype_ == DType::i4 && data.type.shape[1] % 2 != 0;
      const bool is_whole = !is_floating(dtype_);
      types_[id] = is_whole && (is_table[id] || is_odd) ? DType::bf16 : dtype_;
    }
  }

  void add_weight(int id, DType dtype, ir::Graph& graph) {
    ir::ValueData data = from_.data(id);
    data.trainable = false;
    data.init = init::zeros();
    data.type.dtype = dtype;
    if (is_floating(dtype)) {
      data.data = from_.data(id).data->cast(dtype);
      weights_[id] = graph.copy_source(data);
      return;
    }
    const std::span<const float> weights = data.data->as<float>();
    if (!std::all_of(weights.begin(), weights.end(), [](float x) { return std::isfinite(x); })) {
      throw Error("store_weights",
                  fmt::format("{} has a value that is not finite, which {} has not", *data.name,
                              to_string(dtype)));
    }
    auto [values, scales] = quantized(*from_.data(id).data, dtype);
    data.data = std::move(values);
    weights_[id] = graph.copy_source(data);
    const Value added = graph.source(*data.name + kScales, {DType::f32, scales.shape()},
                                     ir::Role::parameter, init::zeros());
    ir::ValueData& to = graph.values[static_cast<size_t>(added.id())];
    to.data = std::move(scales);
    to.trainable = false;
    scales_[id] = added;
  }

  // Whole numbers, and the scale of each group of a row.
  static std::pair<Array, Array> quantized(const Array& weight, DType dtype) {
    const int64_t rows = weight.shape()[0];
    const int64_t columns = weight.shape()[1];
    const int64_t group = columns % kGroup == 0 ? kGroup : columns;
    const float most = dtype == DType::i8 ? 127.0F : 7.0F;
    const std::span<const float> from = weight.as<float>();
    std::vector<std::byte> to(static_cast<size_t>(size_bytes(dtype, weight.shape())));
    std::vector<float> scales;
    for (int64_t begin = 0; begin < rows * columns; begin += group) {
      const auto part = from.subspan(static_cast<size_t>(begin), static_cast<size_t>(group));
      float largest = 0.0F;
      for (const float x : part) largest = std::max(largest, std::fabs(x));
      const float scale = largest / most;
      scales.push_back(scale);
      for (size_t i = 0; i < part.size(); ++i) {
        // The scale of numbers near the least that f32 has is rounded, so that codes may be larger.
        const float code = scale > 0.0F ? std::clamp(part[i] / scale, -most, most) : 0.0F;
        element_store_int(to.data(), static_cast<int>(dtype), begin + static_cast<int64_t>(i),
                          static_cast<int64_t>(std::nearbyint(code)));
      }
    }
    return {Array::of_bytes(dtype, weight.shape(), std::move(to)),
            Array(std::move(scales), {rows, columns / group})};
  }

  void add_node(const ir::Node& node, ir::Rewriter& rewriter) {
    const auto use = use_of(node);
    if (!use || types_.count(use->first) == 0) return rewriter.copy(node);
    rewriter.graph().reopen_layer(node.layer);
    const Value weight = weights_.at(use->first);
    const Value x = rewriter.map(node.input(0));
    Value y;
    if (use->second == Use::table) {
      y = rows_of(x, weight);
    } else {
      const auto scales = scales_.find(use->first);
      const bool in_out = importer::lora::layer_of(from_, node)->in_out;
      y = frozen_dense(x, weight, scales == scales_.end() ? Value() : scales->second,
                       rewriter.map(node.input(2)), {.transpose_b = !in_out});
    }
    rewriter.replace(node, {&y, 1});
    rewriter.graph().end_layer();
  }

  // An embedding: only the rows that are read become f32.
  static Value rows_of(Value ids, Value table) {
    std::vector<int64_t> dims = ids.shape().dims();
    if (!dims.empty()) dims[0] = -1;
    dims.push_back(table.shape()[1]);
    const Value rows = cast(index_select(table, reshape(ids, {-1})), DType::f32);
    return ids.shape().rank() == 1 ? rows : reshape(rows, Shape(dims));
  }

  const ir::Graph& from_;
  DType dtype_;
  std::map<int, DType> types_;    // of the weights that are stored narrow, by old number
  std::map<int, Value> weights_;  // the same in the new graph
  std::map<int, Value> scales_;   // of those of integers
};

}  // namespace

Graph store_weights(const Graph& graph, DType dtype) {
  if (dtype != DType::bf16 && dtype != DType::f16 && dtype != DType::i8 && dtype != DType::i4) {
    throw Error("store_weights",
                fmt::format("expected bf16, f16, i8 or i4, got {}", to_string(dtype)));
  }
  return StoringWeights(graph.ir(), dtype).run();
}

}  // namespace thimble

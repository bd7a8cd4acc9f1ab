// What a layer type is: its properties, and how it becomes ops of a graph.
#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ml_train/properties.h"
#include "ml_train/weights.h"

namespace thimble::ml_train {

// The sizes of a sample.
struct Dim {
  int64_t c = 1;
  int64_t h = 1;
  int64_t w = 1;
  // The largest number where the product is larger.
  [[nodiscard]] int64_t elements() const {
    const double n = static_cast<double>(c) * static_cast<double>(h) * static_cast<double>(w);
    return n < 9e18 ? c * h * w : std::numeric_limits<int64_t>::max();
  }
  // Along axis 1 (channel), 2 (height) or 3 (width).
  [[nodiscard]] int64_t& extent(int64_t axis) { return axis == 1 ? c : axis == 2 ? h : w; }
  [[nodiscard]] int64_t extent(int64_t axis) const { return axis == 1 ? c : axis == 2 ? h : w; }
  bool operator==(const Dim&) const = default;
};

[[nodiscard]] std::string to_string(const Dim& dim);
// The sizes of a sample of another program's model: of an image [h, w, c], of a sequence [t, w]
// 1:t:w, of a row [w] 1:1:w. Throws std::invalid_argument for more dimensions.
[[nodiscard]] Dim dim_of_sample(const Shape& sample);

// Numbers of a sample or a weight: more would not fit any memory.
inline constexpr int64_t kMostElements = int64_t{1} << 31;

// A tensor between layers. Graphs have images [N, H, W, C], this interface has [N, C, H, W]: each
// form is made at its first use.
class Tensor {
 public:
  static std::shared_ptr<Tensor> of_plain(Value value, const Dim& dim);  // [N, c, h, w]
  static std::shared_ptr<Tensor> of_image(Value value, const Dim& dim);  // [N, h, w, c]
  [[nodiscard]] const Dim& dim() const { return dim_; }
  [[nodiscard]] Value plain();  // [N, c, h, w]
  [[nodiscard]] Value image();  // [N, h, w, c]
  [[nodiscard]] bool is_image() const { return !plain_; }

 private:
  Dim dim_;
  Value plain_;
  Value image_;
};

// Layers that copy a tensor share it, with the forms that it has.
using TensorPtr = std::shared_ptr<Tensor>;

// Rows of sequences, of which earlier calls computed those before.
struct NewRows {
  int64_t count = 1;   // rows to compute
  int64_t before = 0;  // rows that caches hold at most; 0: the new ones are the first
};

// What later rows need of the rows of a layer: the graph's output `name` has it of the new rows,
// [N, count, heads, width], and, where there are rows before, its input `name` that of those,
// [N, before, heads, width].
struct RowCache {
  std::string name;
  int64_t heads = 1;
  int64_t width = 1;
};

// The graph's inputs where there are rows before.
inline constexpr const char* kRowPositions = ":positions";  // of the new rows, [N, count]: i32
// What each new row attends to, [N, 1, count, before + count]: u8, 0 for what it does not see.
inline constexpr const char* kRowsSeen = ":rows_seen";

// What all layers of a graph share while it is built.
struct GraphBuild {
  Graph graph;
  WeightStore* weights = nullptr;
  bool training = true;       // whether labels are there
  bool features = false;      // see NetworkSettings
  std::vector<Value> losses;  // to be added up
  std::map<std::string, Value> parameters;
  std::map<std::string, Value> labels;
  std::optional<NewRows> rows;
  Value positions;  // kRowPositions
  Value rows_seen;  // kRowsSeen
  std::vector<RowCache> caches;
};

// How a weight is declared.
struct WeightSpec {
  std::string name;
  Dims dims{1, 1, 1, 1};
  Shape shape;             // in the graph
  Axes order{0, 1, 2, 3};  // see Weight
  int64_t swapped_gates = 0;
  const char* initializer = "weight_initializer";  // the property, or with '=' in front a rule
  // The properties of decay and regularization. Null: there are none.
  const char* decay = "weight_decay";
  const char* regularizer = "weight_regularizer";
  bool is_statistic = false;
  bool frozen = false;
};

// A layer while it is built. Shapes that do not fit are std::invalid_argument naming the layer.
class LayerBuild {
 public:
  LayerBuild(GraphBuild& shared, const PropertySet& props, std::string name, std::string weights_of,
             bool trainable, std::vector<TensorPtr> inputs, int outputs)
      : props(props),
        shared_(shared),
        name_(std::move(name)),
        weights_of_(std::move(weights_of)),
        trainable_(trainable),
        inputs_(std::move(inputs)),
        output_count_(outputs) {}

  const PropertySet& props;

  [[nodiscard]] Graph& graph() { return shared_.graph; }
  [[nodiscard]] GraphBuild& shared() { return shared_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] int inputs() const { return static_cast<int>(inputs_.size()); }
  // Number of outputs that other layers ask for, at least 1.
  [[nodiscard]] int output_count() const { return output_count_; }
  [[nodiscard]] Tensor& input(int i = 0) { return *inputs_[static_cast<size_t>(i)]; }
  [[nodiscard]] const Dim& dim(int i = 0) const { return inputs_[static_cast<size_t>(i)]->dim(); }
  [[nodiscard]] Value plain(int i = 0) { return input(i).plain(); }
  [[nodiscard]] Value image(int i = 0) { return input(i).image(); }
  // Input i in the form that input 0 has already.
  [[nodiscard]] Value same_form(int i) { return input().is_image() ? image(i) : plain(i); }

  // The parameter of a weight, under <name>:<weight>; that of the layer it shares weights with.
  Value weight(const WeightSpec& spec);

  // The next output.
  void put(TensorPtr tensor);
  void put_plain(Value value, const Dim& dim) { put(Tensor::of_plain(value, dim)); }
  void put_image(Value value, const Dim& dim) { put(Tensor::of_image(value, dim)); }
  // Input i as it is.
  void pass(int i) { put(inputs_[static_cast<size_t>(i)]); }
  // Of the form of same_form.
  void put_same(Value value, const Dim& dim) {
    input().is_image() ? put_image(value, dim) : put_plain(value, dim);
  }
  // The targets, of output 0's sizes: [N, c, h, w].
  Value label(const Dim& dim);
  void add_loss(Value loss) { shared_.losses.push_back(loss); }

  // For layers that are applied to every row alone: makes the rows of all inputs samples of their
  // own, and returns how many rows a sample had. join_rows makes them rows again.
  [[nodiscard]] int64_t part_rows();
  void join_rows(int64_t rows);

  // Whether the graph computes some rows of sequences, of which others were computed before.
  [[nodiscard]] bool is_incremental() const { return shared_.rows.has_value(); }
  // Keys or values of the new rows, [N, count, heads, width], behind those of the rows before.
  [[nodiscard]] Value behind_earlier(Value rows, const std::string& what);
  // What each row attends to; none where it is those up to itself.
  [[nodiscard]] Value rows_seen() const { return shared_.rows_seen; }
  // The rows of a table [T, width] for the positions of the new rows: [N, count, width].
  [[nodiscard]] Value at_positions(Value table) const;

  void require(bool condition, const std::string& message) const;
  void require_inputs(int least, int most) const;
  // The property axis, of a layer that has it: 1 to 3.
  [[nodiscard]] int64_t axis() const;
  [[nodiscard]] const std::vector<TensorPtr>& outputs() const { return outputs_; }
  [[nodiscard]] const std::vector<Weight*>& weights() const { return weights_; }
  [[nodiscard]] bool has_label() const { return has_label_; }

 private:
  GraphBuild& shared_;
  std::string name_;
  std::string weights_of_;
  bool trainable_;
  std::vector<TensorPtr> inputs_;
  int output_count_;
  std::vector<TensorPtr> outputs_;
  std::vector<Weight*> weights_;
  bool has_label_ = false;
};

// One layer type.
struct LayerKind {
  const char* type;  // registered name
  int number;        // of LayerType
  std::vector<std::span<const Property>> properties;
  std::function<void(LayerBuild&)> build;  // none where `refused` says why
  std::string refused = {};
  bool is_loss = false;
};

// All types; null where there is none of that name.
[[nodiscard]] const std::vector<LayerKind>& layer_kinds();
[[nodiscard]] const LayerKind* find_kind(const std::string& type);
// The keys of every layer.
[[nodiscard]] std::span<const Property> common_properties();
// Initializers, regularization and decay of weight and bias.
[[nodiscard]] std::span<const Property> weight_properties();
// Names of activations, separated by blanks.
inline constexpr const char* kActivations =
    "tanh sigmoid relu swish gelu tanh_gelu sigmoid_gelu softmax softplus leaky_relu elu selu mish "
    "none";
inline constexpr const char* kInitializers =
    "zeros ones lecun_normal xavier_normal he_normal lecun_uniform xavier_uniform he_uniform";
// x of any shape; softmax is over the last axis.
[[nodiscard]] Value activated(Value x, const std::string& activation);

// The families, one file each.
void add_basic_layers(std::vector<LayerKind>& kinds);
void add_convolution_layers(std::vector<LayerKind>& kinds);
void add_norm_layers(std::vector<LayerKind>& kinds);
void add_elementwise_layers(std::vector<LayerKind>& kinds);
void add_move_layers(std::vector<LayerKind>& kinds);
void add_loss_layers(std::vector<LayerKind>& kinds);
void add_recurrent_layers(std::vector<LayerKind>& kinds);
void add_attention_layers(std::vector<LayerKind>& kinds);
void add_mean_layers(std::vector<LayerKind>& kinds);
void add_other_layers(std::vector<LayerKind>& kinds);

}  // namespace thimble::ml_train

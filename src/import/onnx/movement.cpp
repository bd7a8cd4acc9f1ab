// Parts of tensors, and tensors made of parts.
#include <fmt/format.h>
#include <thimble/ops.h>

#include <algorithm>
#include <limits>

#include "import/onnx/table.h"
#include "import/parts.h"

namespace thimble::importer::onnx {
namespace {

// For each axis of the ONNX tensor its place in the stored one.
int place_of(const Node& node, const Order& order, int64_t axis) {
  return inverse(order)[static_cast<size_t>(node.axis_of(axis, static_cast<int>(order.size())))];
}

void concat_node(Node& node) {
  // The largest value's order, as for element-wise operators.
  const Item* lead = nullptr;
  size_t most = 0;
  bool is_bool = false;
  for (size_t i = 0; i < node.inputs(); ++i) {
    const Item& item = node.item(i);
    is_bool = is_bool || item.is_bool;
    if (!item.is_value() || item.flattened) continue;
    if (lead == nullptr || static_cast<size_t>(item.value.shape().elements()) > most) {
      lead = &item;
      most = static_cast<size_t>(item.value.shape().elements());
    }
  }
  const Order order = lead == nullptr ? plain_order(node.rank(0)) : lead->order;
  const int axis = place_of(node, order, node.integer("axis", node.opset() < 4 ? 1 : 0));
  std::vector<Value> parts;
  for (size_t i = 0; i < node.inputs(); ++i) {
    node.require(node.rank(i) == static_cast<int>(order.size()),
                 "expected parts of as many dimensions");
    parts.push_back(node.value(i, order));
  }
  // A part for the batch that the file fixes serves every sample: a class token, say.
  if (lead != nullptr && lead->value.shape().rank() > 0 && lead->value.shape()[0] == kBatch &&
      axis != 0) {
    for (Value& part : parts) {
      if (part.shape()[0] != 1 || node.importer().fixed_batch() != 1) continue;
      std::vector<int64_t> dims = part.shape().dims();
      dims[0] = kBatch;
      part = broadcast_to(part, Shape(dims));
    }
  }
  node.give(0, concatenated(std::move(parts), axis), order, is_bool);
}

void split_node(Node& node) {
  Order order;
  const Value x = node.stored(0, order);
  const int axis = place_of(node, order, node.integer("axis", 0));
  const int64_t size = x.shape()[axis];
  std::vector<int64_t> sizes = node.opset() < 13 ? node.integers("split")
                               : node.has(1)     ? node.integers_of(1)
                                                 : std::vector<int64_t>();
  if (sizes.empty()) {
    const auto parts = static_cast<int64_t>(node.def().outputs.size());
    node.require(parts >= 1, "expected at least one result");
    const int64_t each = (size + parts - 1) / parts;
    for (int64_t left = size, i = 0; i < parts; ++i, left -= each) {
      sizes.push_back(std::clamp<int64_t>(left, 0, each));
    }
  }
  node.require(sizes.size() == node.def().outputs.size(), "expected a size for each result");
  int64_t first = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    node.require(sizes[i] >= 0 && sizes[i] <= size - first, "its sizes do not fit the axis");
    const Value part = slice(x, axis, first, first + sizes[i]);
    node.give(i, part, order, node.item(0).is_bool);
    first += sizes[i];
  }
  node.require(first == size, "its sizes do not fill the axis");
}

void slice_node(Node& node) {
  Order order;
  const Value x = node.stored(0, order);
  const bool as_inputs = node.opset() >= 10;
  const std::vector<int64_t> starts = as_inputs ? node.integers_of(1) : node.integers("starts");
  std::vector<int64_t> stops = as_inputs ? node.integers_of(2) : node.integers("ends");
  std::vector<int64_t> axes = as_inputs
                                  ? (node.has(3) ? node.integers_of(3) : std::vector<int64_t>())
                                  : node.integers("axes");
  std::vector<int64_t> steps =
      as_inputs && node.has(4) ? node.integers_of(4) : std::vector<int64_t>(starts.size(), 1);
  if (axes.empty()) {
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  node.require(starts.size() == stops.size() && axes.size() == starts.size() &&
                   steps.size() == starts.size(),
               "expected as many starts as stops, axes and steps");
  SliceOptions options;
  for (size_t i = 0; i < starts.size(); ++i) {
    const int place = place_of(node, order, axes[i]);
    const int64_t size = x.shape()[place];
    node.require(steps[i] != 0, "expected steps that are not 0");
    int64_t start = starts[i] < -size ? -size : starts[i];
    int64_t stop = stops[i];
    if (start < 0) start += size;
    start = std::clamp<int64_t>(start, 0, steps[i] > 0 ? size : std::max<int64_t>(size - 1, 0));
    if (steps[i] > 0) {
      stop = stop >= size ? size : std::max<int64_t>(stop < 0 ? stop + size : stop, 0);
      stop = std::max(stop, start);
      if (start == 0 && stop == size && steps[i] == 1) continue;
      if (stop == size) stop = kEnd;
    } else {
      // A stop before the first element has no number of its own: kEnd stands for it.
      stop = stop < -size ? -1 : stop < 0 ? stop + size : std::min(stop, size - 1);
      if (stop < 0) stop = kEnd;
    }
    options.axes.push_back(place);
    options.starts.push_back(start);
    options.stops.push_back(stop);
    options.steps.push_back(std::clamp<int64_t>(steps[i], -kBatch, kBatch));
  }
  node.give(0, options.axes.empty() ? x : slice(x, options), order, node.item(0).is_bool);
}

void pad_node(Node& node) {
  Order order;
  const Value x = node.stored(0, order);
  const auto rank = order.size();
  const std::vector<int64_t> pads =
      node.opset() >= 11 ? node.integers_of(1) : node.integers("pads");
  std::vector<int64_t> axes;
  if (node.opset() >= 18 && node.has(3)) {
    axes = node.integers_of(3);
  } else {
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  }
  node.require(pads.size() == 2 * axes.size(), "expected two numbers for each axis");
  PadOptions options{.before = std::vector<int64_t>(rank, 0),
                     .after = std::vector<int64_t>(rank, 0)};
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto place = static_cast<size_t>(place_of(node, order, axes[i]));
    options.before[place] = pads[i];
    options.after[place] = pads[i + axes.size()];
  }
  const std::string mode = node.text("mode", "constant");
  if (mode == "reflect") options.mode = PadMode::reflect;
  if (mode == "edge") options.mode = PadMode::replicate;
  if (mode == "wrap") options.mode = PadMode::circular;
  node.require(mode == "constant" || options.mode != PadMode::constant, "its mode is not known");
  if (node.opset() < 11) {
    options.value = node.number("value", 0.0);
  } else if (node.has(2) && options.mode == PadMode::constant) {
    options.value = node.number_of(2);
  }
  node.give(0, pad(x, options), order, node.item(0).is_bool);
}

void expand(Node& node) {
  std::vector<int64_t> wanted = node.integers_of(1);
  const Shape from = node.shape(0);
  std::vector<int64_t> dims = from.dims();
  node.require(wanted.size() <= 8, "expected at most 8 dimensions");
  if (dims.size() < wanted.size()) dims.insert(dims.begin(), wanted.size() - dims.size(), 1);
  if (wanted.size() < dims.size()) wanted.insert(wanted.begin(), dims.size() - wanted.size(), 1);
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t batch = node.importer().fixed_batch();
    if (dims[i] == kBatch && batch > 0 && wanted[i] == batch) continue;
    if (wanted[i] == 1 || wanted[i] == dims[i]) continue;
    node.require(wanted[i] >= 0, "expected dimensions of at least 0");
    node.require(dims[i] == 1, "its shape does not broadcast to the one that is wanted");
    dims[i] = wanted[i];
  }
  const Shape shape(dims);
  if (shape == from) {
    node.give(0, node.item(0));
    return;
  }
  node.give(0, broadcast_to(node.value(0), shape), plain_order(shape.rank()), node.item(0).is_bool);
}

void tile(Node& node) {
  Order order;
  Value x = node.stored(0, order);
  const std::vector<int64_t> repeats = node.integers_of(1);
  node.require(repeats.size() == order.size(), "expected a number for each axis");
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t times = repeats[static_cast<size_t>(order[i])];
    node.require(times >= 1 && times <= 4096, "expected 1 to 4096 repeats");
    if (times == 1) continue;
    const std::vector<Value> parts(static_cast<size_t>(times), x);
    x = concatenated(parts, static_cast<int64_t>(i));
  }
  node.give(0, x, order, node.item(0).is_bool);
}

void trilu(Node& node) {
  const Value x = node.value(0);
  const int64_t diagonal = node.has(1) ? node.integer_of(1) : 0;
  const TriangleOptions options{.diagonal = diagonal};
  node.give(0, node.integer("upper", 1) != 0 ? triu(x, options) : tril(x, options),
            plain_order(x.shape().rank()), node.item(0).is_bool);
}

void depth_to_space(Node& node) {
  const int64_t factor = node.integer("blocksize", 1);
  const Order order = channels_last(4);
  node.require(node.rank(0) == 4 && factor >= 1 && factor < 4096, "expected images [N, C, H, W]");
  const Value x = node.value(0, order);
  const Shape& s = x.shape();
  node.require(s[3] % (factor * factor) == 0, "its blocks do not divide the channels");
  const int64_t channels = s[3] / (factor * factor);
  if (node.text("mode", "DCR") == "CRD") {
    node.give(pixel_shuffle(x, {.factor = factor}), order);
    return;
  }
  Value y = reshape(x, {s[0], s[1], s[2], factor, factor, channels});
  y = transpose(y, {0, 1, 3, 2, 4, 5});
  node.give(reshape(y, {s[0], s[1] * factor, s[2] * factor, channels}), order);
}

void space_to_depth(Node& node) {
  const int64_t factor = node.integer("blocksize", 1);
  const Order order = channels_last(4);
  node.require(node.rank(0) == 4 && factor >= 1 && factor < 4096, "expected images [N, C, H, W]");
  const Value x = node.value(0, order);
  const Shape& s = x.shape();
  node.require(s[1] % factor == 0 && s[2] % factor == 0, "its blocks do not divide the image");
  Value y = reshape(x, {s[0], s[1] / factor, factor, s[2] / factor, factor, s[3]});
  y = transpose(y, {0, 1, 3, 2, 4, 5});
  node.give(reshape(y, {s[0], s[1] / factor, s[2] / factor, factor * factor * s[3]}), order);
}

void center_crop_pad(Node& node) {
  Order order;
  Value x = node.stored(0, order);
  const std::vector<int64_t> wanted = node.integers_of(1);
  std::vector<int64_t> axes = node.integers("axes");
  if (axes.empty()) {
    for (size_t i = 0; i < order.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  node.require(axes.size() == wanted.size(), "expected a size for each axis");
  PadOptions options{.before = std::vector<int64_t>(order.size(), 0),
                     .after = std::vector<int64_t>(order.size(), 0)};
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto place = place_of(node, order, axes[i]);
    const int64_t size = x.shape()[place];
    node.require(wanted[i] >= 0 && wanted[i] < kBatch, "expected sizes of at least 0");
    if (wanted[i] < size) {
      const int64_t first = (size - wanted[i]) / 2;
      x = slice(x, place, first, first + wanted[i]);
    } else {
      options.before[static_cast<size_t>(place)] = (wanted[i] - size) / 2;
      options.after[static_cast<size_t>(place)] = wanted[i] - size - (wanted[i] - size) / 2;
    }
  }
  node.give(pad(x, options), order);
}

}  // namespace

void add_movement(Conversions& table) {
  table["Concat"] = {concat_node};
  table["Split"] = {split_node};
  table["Slice"] = {slice_node};
  table["Pad"] = {pad_node};
  table["Expand"] = {expand};
  table["Tile"] = {tile};
  table["Trilu"] = {trilu};
  table["DepthToSpace"] = {depth_to_space};
  table["SpaceToDepth"] = {space_to_depth};
  table["CenterCropPad"] = {center_crop_pad};
}

}  // namespace thimble::importer::onnx

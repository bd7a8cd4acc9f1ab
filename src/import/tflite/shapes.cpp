// Ops that move elements.
#include <thimble/ops.h>

#include <algorithm>

#include "import/parts.h"
#include "import/tflite/node.h"
#include "ir/graph.h"

namespace thimble::tflite {
namespace {

// int8 keeps its scale: the file says no other one.
void reshape_of(Node& node) { node.give(node.shaped(node.input(0))); }

void transpose_of(Node& node) {
  const Value x = node.input(0);
  std::vector<int64_t> order = node.integers(1);
  if (!order.empty() && order[0] != 0 && Node::has_batch(x)) {
    node.fail("it moves dimension 0, the batch, which thimble leaves open");
  }
  node.give(transpose(x, order));
}

void concatenation(Node& node) {
  const auto& o = node.options<ConcatenationOptions>(BuiltinOptions_ConcatenationOptions);
  std::vector<Value> parts;
  for (int i = 0; i < node.inputs(); ++i) parts.push_back(node.input(i));
  if (parts.empty()) node.fail("it has no inputs");
  const Value y = importer::concatenated(parts, node.axis(parts[0], o.axis()));
  if (!node.is_int8()) return node.give(activated(node, y, o.activation()));
  const Activation bounds = bounds_of(node, o.activation());
  node.give(bounds == Activation::none ? y : node.clamped(y, bounds));
}

void give_all(Node& node, const std::vector<Value>& parts) {
  if (parts.size() != static_cast<size_t>(node.outputs())) {
    node.fail(fmt::format("it makes {} parts, the file names {}", parts.size(), node.outputs()));
  }
  for (int i = 0; i < node.outputs(); ++i) node.give(parts[static_cast<size_t>(i)], i);
}

// x in as many parts as the operator has outputs.
std::vector<Value> equal_parts(const Node& node, const Value& x, int64_t axis) {
  const int64_t size = x.shape()[static_cast<int>(axis)];
  const int64_t count = node.outputs();
  if (size % count != 0) {
    node.fail(fmt::format("cannot cut axis {} of {} into {} equal parts", axis,
                          to_string(x.shape()), count));
  }
  const std::vector<int64_t> sizes(static_cast<size_t>(count), size / count);
  return importer::split_into(x, axis, sizes);
}

void split_of(Node& node) {
  const Value x = node.input(1);
  if (node.outputs() < 1) node.fail("it has no outputs");
  give_all(node, equal_parts(node, x, node.axis(x, node.integer(0))));
}

void split_v(Node& node) {
  const Value x = node.input(0);
  const int64_t axis = node.axis(x, node.integer(2));
  std::vector<int64_t> sizes = node.integers(1);
  const auto open = std::find(sizes.begin(), sizes.end(), -1);
  if (open != sizes.end()) {
    int64_t rest = x.shape()[static_cast<int>(axis)];
    for (const int64_t size : sizes) rest -= std::clamp<int64_t>(size, 0, rest);
    *open = rest;
  }
  give_all(node, importer::split_into(x, axis, sizes));
}

// The shape with a dimension of 1 before `axis`.
Shape with_axis(const Shape& shape, int64_t axis) {
  std::vector<int64_t> sizes = shape.dims();
  sizes.insert(sizes.begin() + static_cast<ptrdiff_t>(axis), 1);
  return Shape(std::move(sizes));
}

// A new axis among those of x.
int64_t new_axis(const Node& node, const Value& x, int64_t axis) {
  const int rank = x.shape().rank();
  const int64_t found = axis < 0 ? axis + rank + 1 : axis;
  if (found < 0 || found > rank || (found == 0 && Node::has_batch(x))) {
    node.fail(fmt::format("{} gets no axis {}", to_string(x.shape()), axis));
  }
  return found;
}

void pack(Node& node) {
  const auto& o = node.options<PackOptions>(BuiltinOptions_PackOptions);
  std::vector<Value> parts;
  int64_t axis = 0;
  for (int i = 0; i < node.inputs(); ++i) {
    const Value x = node.input(i);
    axis = new_axis(node, x, o.axis());
    parts.push_back(reshape(x, with_axis(x.shape(), axis)));
  }
  node.give(importer::concatenated(parts, axis));
}

void unpack(Node& node) {
  const auto& o = node.options<UnpackOptions>(BuiltinOptions_UnpackOptions);
  const Value x = node.input(0);
  if (node.outputs() < 1) node.fail("it has no outputs");
  std::vector<Value> parts = equal_parts(node, x, node.axis(x, o.axis()));
  for (int i = 0; i < node.outputs(); ++i) {
    Value& part = parts[static_cast<size_t>(i)];
    part = node.shaped(part, i);
  }
  give_all(node, parts);
}

// The size of dimension 0 of the result, which an operator that keeps the batch does not change.
int64_t rows_of(const Node& node) {
  const Shape& shape = node.result().shape;
  return shape.rank() == 0 ? 0 : shape[0];
}

void slice_of(Node& node) {
  const Value x = node.input(0);
  const std::vector<int64_t> begin = node.integers(1);
  const std::vector<int64_t> size = node.integers(2);
  const auto rank = static_cast<size_t>(x.shape().rank());
  if (begin.size() != rank || size.size() != rank) node.fail("expected a number for every axis");
  SliceOptions options;
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t whole = x.shape()[static_cast<int>(axis)];
    if (axis == 0 && Node::has_batch(x)) {
      if (begin[0] != 0 || (size[0] != -1 && size[0] != rows_of(node))) {
        node.fail("it cuts dimension 0, the batch, which thimble leaves open");
      }
      continue;
    }
    if (begin[axis] < 0 || begin[axis] > whole || size[axis] < -1 ||
        size[axis] > whole - begin[axis]) {
      node.fail(fmt::format("{} from {} on lie beyond axis {} of {}", size[axis], begin[axis], axis,
                            to_string(x.shape())));
    }
    options.axes.push_back(static_cast<int64_t>(axis));
    options.starts.push_back(begin[axis]);
    options.stops.push_back(size[axis] == -1 ? whole : begin[axis] + size[axis]);
  }
  node.give(options.axes.empty() ? x : slice(x, options));
}

void strided_slice(Node& node) {
  const auto& o = node.options<StridedSliceOptions>(BuiltinOptions_StridedSliceOptions);
  if (o.ellipsis_mask() != 0 || o.new_axis_mask() != 0 || o.offset()) {
    node.fail("thimble reads it without ellipsis, new axes and offset alone");
  }
  const Value x = node.input(0);
  const std::vector<int64_t> begin = node.integers(1);
  const std::vector<int64_t> end = node.integers(2);
  const std::vector<int64_t> steps = node.integers(3);
  if (begin.size() > static_cast<size_t>(x.shape().rank()) || begin.size() != end.size() ||
      begin.size() != steps.size()) {
    node.fail("expected as many beginnings, ends and steps, at most one an axis");
  }
  SliceOptions options;
  for (size_t axis = 0; axis < begin.size(); ++axis) {
    const auto has = [axis](int mask) { return (mask >> axis & 1) != 0; };
    const int64_t step = steps[axis];
    const bool whole =
        (has(o.begin_mask()) || begin[axis] == 0) && step == 1 && !has(o.shrink_axis_mask());
    if (axis == 0 && Node::has_batch(x)) {
      if (!whole || (!has(o.end_mask()) && end[0] < rows_of(node))) {
        node.fail("it cuts dimension 0, the batch, which thimble leaves open");
      }
      continue;
    }
    if (has(o.shrink_axis_mask())) {
      const int64_t at = begin[axis];
      options.starts.push_back(at);
      options.stops.push_back(at == -1 ? kEnd : at + 1);
      options.steps.push_back(1);
    } else {
      options.starts.push_back(!has(o.begin_mask()) ? begin[axis] : step < 0 ? -1 : 0);
      options.stops.push_back(has(o.end_mask()) ? kEnd : end[axis]);
      options.steps.push_back(step);
    }
    options.axes.push_back(static_cast<int64_t>(axis));
  }
  node.give(node.shaped(options.axes.empty() ? x : slice(x, options)));
}

// Numbers before and after each axis.
PadOptions paddings_of(const Node& node, const Value& x) {
  const std::vector<int64_t> all = node.integers(1);
  if (all.size() != 2 * static_cast<size_t>(x.shape().rank())) {
    node.fail("expected two numbers for every axis");
  }
  PadOptions options;
  for (size_t i = 0; i < all.size(); i += 2) {
    if (all[i] < 0 || all[i + 1] < 0) node.fail("expected paddings of 0 or more");
    options.before.push_back(all[i]);
    options.after.push_back(all[i + 1]);
  }
  if (Node::has_batch(x) && (options.before[0] != 0 || options.after[0] != 0)) {
    node.fail("it pads dimension 0, the batch, which thimble leaves open");
  }
  return options;
}

void pad_of(Node& node) {
  const Value x = node.input(0);
  node.give(pad(x, paddings_of(node, x)));
}

void pad_v2(Node& node) {
  const Value x = node.input(0);
  PadOptions options = paddings_of(node, x);
  if (node.is_int8()) node.fail("thimble has no such op of int8 with the kernel's bits");
  const Array value = node.floats(2);
  if (value.elements() != 1) node.fail("expected one number as input 2");
  options.value = static_cast<double>(value.as<float>()[0]);
  node.give(pad(x, options));
}

void mirror_pad(Node& node) {
  const auto& o = node.options<MirrorPadOptions>(BuiltinOptions_MirrorPadOptions);
  if (o.mode() != 0) node.fail("thimble mirrors without the outermost elements alone: REFLECT");
  const Value x = node.input(0);
  PadOptions options = paddings_of(node, x);
  options.mode = PadMode::reflect;
  node.give(pad(x, options));
}

// Between pixels of b^2 C channels and b by b pixels of C channels.
int64_t block_of(const Node& node, const Value& x, int32_t block) {
  if (x.shape().rank() != 4) node.fail("expected images [N, H, W, C]");
  if (block < 1 || block > (1 << 15)) node.fail("expected a block of 1 or more");
  return block;
}

void depth_to_space(Node& node) {
  const Value x = node.input(0);
  const int64_t b = block_of(
      node, x, node.options<DepthToSpaceOptions>(BuiltinOptions_DepthToSpaceOptions).block_size());
  const Shape& s = x.shape();
  if (s[3] % (b * b) != 0) node.fail("its block does not divide the channels");
  const Value parts = reshape(x, {s[0], s[1], s[2], b, b, s[3] / (b * b)});
  node.give(node.shaped(transpose(parts, {0, 1, 3, 2, 4, 5})));
}

void space_to_depth(Node& node) {
  const Value x = node.input(0);
  const int64_t b = block_of(
      node, x, node.options<SpaceToDepthOptions>(BuiltinOptions_SpaceToDepthOptions).block_size());
  const Shape& s = x.shape();
  if (s[1] % b != 0 || s[2] % b != 0) node.fail("its block does not divide height and width");
  const Value parts = reshape(x, {s[0], s[1] / b, b, s[2] / b, b, s[3]});
  node.give(node.shaped(transpose(parts, {0, 1, 3, 2, 4, 5})));
}

void gather_of(Node& node) {
  const auto* const o = node.options_if<GatherOptions>(BuiltinOptions_GatherOptions);
  if (o != nullptr && o->batch_dims() != 0) node.fail("expected batch_dims of 0");
  const int64_t axis = o == nullptr ? 0 : o->axis();
  if (node.is_int8() && node.is_constant(0)) node.fail("thimble looks up rows of f32 alone");
  if (node.is_constant(0) && axis == 0 && node.tensor(0).shape.rank() == 2 &&
      node.tensor(1).type == kInt32) {
    const ir::LayerScope layer(node.ir(), "embedding", "");
    return node.give(embedding(node.input(1), node.parameter(0, layer.name() + ".weight", false)));
  }
  const Value x = node.input(0);
  const Value index = node.input(1);
  if (index.shape().rank() > 1 || index.dtype() != DType::i32) {
    node.fail("expected indices of int32 in one dimension");
  }
  const Value list = index.shape().rank() == 0 ? reshape(index, {1}) : index;
  node.give(node.shaped(index_select(x, list, {.axis = node.axis(x, axis)})));
}

void embedding_lookup(Node& node) {
  if (node.is_int8(1)) node.fail("thimble looks up rows of f32 alone");
  const ir::LayerScope layer(node.ir(), "embedding", "");
  node.give(embedding(node.input(0), node.parameter(1, layer.name() + ".weight", false)));
}

void broadcast(Node& node) {
  const Value x = node.input(0);
  std::vector<int64_t> sizes = node.result().shape.dims();
  if (Node::has_batch(x) && !sizes.empty()) sizes[0] = x.shape()[0];
  node.give(broadcast_to(x, Shape(std::move(sizes))));
}

}  // namespace

std::span<const Rule> shape_rules() {
  static const Rule rules[] = {
      {2, "CONCATENATION", concatenation},
      {5, "DEPTH_TO_SPACE", depth_to_space},
      {7, "EMBEDDING_LOOKUP", embedding_lookup},
      {22, "RESHAPE", reshape_of, 1},
      {26, "SPACE_TO_DEPTH", space_to_depth},
      {34, "PAD", pad_of, 1},
      {36, "GATHER", gather_of},
      {39, "TRANSPOSE", transpose_of, 1},
      {43, "SQUEEZE", reshape_of},
      {45, "STRIDED_SLICE", strided_slice, 1},
      {49, "SPLIT", split_of},
      {60, "PADV2", pad_v2, 1},
      {65, "SLICE", slice_of, 1},
      {70, "EXPAND_DIMS", reshape_of, 1},
      {83, "PACK", pack},
      {88, "UNPACK", unpack},
      {100, "MIRROR_PAD", mirror_pad, 1},
      {102, "SPLIT_V", split_v, 1},
      {130, "BROADCAST_TO", broadcast, 1},
  };
  return rules;
}

}  // namespace thimble::tflite

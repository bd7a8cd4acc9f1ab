// Layers that join, part and reorder tensors.
#include <layer.h>
#include <thimble/ops/cast.h>
#include <thimble/ops/concat.h>
#include <thimble/ops/gather.h>
#include <thimble/ops/slice.h>
#include <thimble/ops/split.h>
#include <thimble/ops/transpose.h>

#include <algorithm>

#include "ml_train/build.h"

namespace thimble::ml_train {
namespace {

using namespace ml::train;

constexpr Property kConcat[] = {{"axis", Kind::positive}};

void build_concat(LayerBuild& b) {
  b.require_inputs(1, 1 << 20);
  const int64_t axis = b.props.has("axis") ? b.axis() : b.dim().c > 1 ? 3 : 1;
  Dim out = b.dim();
  std::vector<Value> parts;
  // Channels of images stand side by side in each pixel.
  const bool images = axis == 1 && b.input().is_image();
  for (int i = 0; i < b.inputs(); ++i) {
    parts.push_back(images ? b.image(i) : b.plain(i));
    Dim other = b.dim(i);
    if (i > 0) out.extent(axis) += other.extent(axis);
    other.extent(axis) = out.extent(axis);
    b.require(other == out, "expected inputs that differ along axis " + std::to_string(axis) +
                                " alone, got " + to_string(b.dim(0)) + " and " +
                                to_string(b.dim(i)));
  }
  if (images) {
    b.put_image(concat(parts, {.axis = 3}), out);
  } else {
    b.put_plain(concat(parts, {.axis = axis}), out);
  }
}

constexpr Property kSplit[] = {
    {"axis", Kind::positive, nullptr, "", 0, true},
    {"split_number", Kind::positive},
};

void build_split(LayerBuild& b) {
  b.require_inputs(1, 1);
  const int64_t axis = b.axis();
  Dim out = b.dim();
  const int64_t parts =
      b.props.has("split_number") ? b.props.count("split_number") : out.extent(axis);
  b.require(out.extent(axis) % parts == 0, "split_number " + std::to_string(parts) +
                                               " does not divide axis " + std::to_string(axis) +
                                               " of " + to_string(out));
  b.require(parts == b.output_count(),
            "it has " + std::to_string(parts) + " outputs, of which other layers use the first " +
                std::to_string(b.output_count()) + "; use the last one, too");
  out.extent(axis) /= parts;
  for (const Value& part : split(b.plain(), parts, axis)) b.put_plain(part, out);
}

constexpr Property kSlice[] = {
    {"axis", Kind::positive, nullptr, "", 0, true},
    {"start_index", Kind::positive, nullptr, "", 0, true},
    {"end_index", Kind::positive, nullptr, "", 0, true},
};

void build_slice(LayerBuild& b) {
  b.require_inputs(1, 1);
  const int64_t axis = b.axis();
  const int64_t start = b.props.count("start_index") - 1;
  const int64_t end = b.props.count("end_index") - 1;
  Dim out = b.dim();
  b.require(start < end && end <= out.extent(axis),
            "start_index and end_index count from 1, the end excluded; axis " +
                std::to_string(axis) + " of " + to_string(out) + " has fewer elements");
  out.extent(axis) = end - start;
  b.put_plain(slice(b.plain(), axis, start, end), out);
}

constexpr Property kPermute[] = {{"direction", Kind::integers, nullptr, "", 3, true}};

void build_permute(LayerBuild& b) {
  b.require_inputs(1, 1);
  const std::vector<int64_t> direction = b.props.integers("direction");
  std::vector<int64_t> sorted = direction;
  std::sort(sorted.begin(), sorted.end());
  b.require(sorted == std::vector<int64_t>{1, 2, 3}, "direction names 1, 2 and 3 once each");
  Dim in = b.dim();
  const Dim out{in.extent(direction[0]), in.extent(direction[1]), in.extent(direction[2])};
  b.put_plain(transpose(b.plain(), {0, direction[0], direction[1], direction[2]}), out);
}

void build_transpose(LayerBuild& b) {
  b.require_inputs(1, 1);
  const Dim in = b.dim();
  b.put_plain(transpose(b.plain(), {0, 1, 3, 2}), {in.c, in.w, in.h});
}

constexpr Property kTranspose[] = {{"print", Kind::boolean, "false"}};
constexpr Property kGather[] = {{"axis", Kind::positive, nullptr, "", 0, true}};

// y[.., i, ..] = x[.., index[.., i, ..], ..] along the axis.
void build_gather(LayerBuild& b) {
  b.require_inputs(2, 2);
  const int64_t axis = b.axis();
  Dim in = b.dim(0);
  Dim index = b.dim(1);
  const Dim out = index;
  in.extent(axis) = index.extent(axis);
  b.require(in == index, "expected indexes that differ from the input along axis " +
                             std::to_string(axis) + " alone, got " + to_string(b.dim(0)) + " and " +
                             to_string(b.dim(1)));
  b.put_plain(gather(b.plain(0), cast(b.plain(1), DType::i32), {.axis = axis}), out);
}

}  // namespace

void add_move_layers(std::vector<LayerKind>& kinds) {
  kinds.insert(kinds.end(), {{"concat", LAYER_CONCAT, {kConcat}, build_concat},
                             {"split", LAYER_SPLIT, {kSplit}, build_split},
                             {"slice", LAYER_SLICE, {kSlice}, build_slice},
                             {"permute", LAYER_PERMUTE, {kPermute}, build_permute},
                             {"transpose", LAYER_TRANSPOSE, {kTranspose}, build_transpose},
                             {"gather", LAYER_GATHER, {kGather}, build_gather}});
}

}  // namespace thimble::ml_train

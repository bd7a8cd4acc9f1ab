// Ops that move elements.
#include <thimble/ops.h>

#include <algorithm>

#include "import/tflite/write.h"
#include "ops/transpose/attrs.h"

namespace thimble::tflite {
namespace {

void reshape_of(Op& op) {
  const std::vector<int64_t> sizes = open_sizes(op.result().shape);
  const std::vector<int32_t> same(sizes.begin(), sizes.end());
  const auto table = CreateReshapeOptions(op.builder(), op.builder().CreateVector(same));
  op.add(22, 1, op.options(BuiltinOptions_ReshapeOptions, table), {op.input(0), op.numbers(sizes)},
         {op.output()});
}

void transpose_of(Op& op) {
  const auto axes = transposed_axes(op.attrs<TransposeAttrs>(), op.shape(0).rank());
  op.add(39, op.options(BuiltinOptions_TransposeOptions, CreateEmptyOptions(op.builder())),
         {op.input(0), op.numbers(axes)}, {op.output()});
}

void concat_of(Op& op) {
  std::vector<int> parts;
  for (int i = 0; op.has(i); ++i) parts.push_back(op.input(i));
  const auto axis = static_cast<int32_t>(op.attrs<ConcatOptions>().axis);
  op.add(2,
         op.options(BuiltinOptions_ConcatenationOptions,
                    CreateConcatenationOptions(op.builder(), axis)),
         parts, {op.output()});
}

void split_of(Op& op) {
  const auto& a = op.attrs<thimble::SplitOptions>();
  std::vector<int> parts;
  for (size_t i = 0; i < a.sizes.size(); ++i) parts.push_back(op.output(static_cast<int>(i)));
  const int sizes = op.numbers(a.sizes);
  const int axis = op.numbers({a.axis}, {});
  op.add(102,
         op.options(BuiltinOptions_SplitVOptions,
                    CreateSplitVOptions(op.builder(), static_cast<int32_t>(parts.size()))),
         {op.input(0), sizes, axis}, parts);
}

// As STRIDED_SLICE, with the ends that masks leave open.
void slice_of(Op& op) {
  const auto& a = op.attrs<thimble::SliceOptions>();
  const auto rank = static_cast<size_t>(op.shape(0).rank());
  std::vector<int64_t> starts(rank, 0);
  std::vector<int64_t> stops(rank, 0);
  std::vector<int64_t> steps(rank, 1);
  int32_t open_start = (1 << rank) - 1;
  int32_t open_stop = open_start;
  for (size_t i = 0; i < a.starts.size(); ++i) {
    const int64_t given = a.axes.empty() ? static_cast<int64_t>(i) : a.axes[i];
    const auto axis = static_cast<size_t>(given < 0 ? given + static_cast<int64_t>(rank) : given);
    const int64_t size = op.shape(0)[static_cast<int>(axis)];
    if (importer::is_of_batch(size)) op.fail("the batch is open");
    starts[axis] = std::clamp<int64_t>(a.starts[i], -size, size);
    open_start &= ~(1 << axis);
    steps[axis] = a.steps.empty() ? 1 : a.steps[i];
    if (a.stops[i] == kEnd) continue;
    stops[axis] = std::clamp<int64_t>(a.stops[i], -size - 1, size);
    open_stop &= ~(1 << axis);
  }
  const auto table = CreateStridedSliceOptions(op.builder(), open_start, open_stop);
  const int version = rank > 4 ? 4 : op.is_int8() ? 2 : 1;
  op.add(45, version, op.options(BuiltinOptions_StridedSliceOptions, table),
         {op.input(0), op.numbers(starts), op.numbers(stops), op.numbers(steps)}, {op.output()});
}

void pad_of(Op& op) {
  const auto& a = op.attrs<PadOptions>();
  std::vector<int64_t> rows;
  for (size_t i = 0; i < a.before.size(); ++i) {
    if (a.before[i] < 0 || a.after[i] < 0) op.fail("such files have no padding below 0");
    rows.insert(rows.end(), {a.before[i], a.after[i]});
  }
  const int table = op.numbers(rows, {static_cast<int64_t>(a.before.size()), 2});
  const auto empty = CreateEmptyOptions(op.builder());
  if (a.mode == PadMode::reflect) {
    op.add(100,
           op.options(BuiltinOptions_MirrorPadOptions,
                      CreateMirrorPadOptions(op.builder(), int8_t{0})),
           {op.input(0), table}, {op.output()});
  } else if (a.mode != PadMode::constant) {
    op.fail("such files pad with a constant or by reflection alone");
  } else if (a.value == 0.0) {
    op.add(34, op.options(BuiltinOptions_PadOptions, empty), {op.input(0), table}, {op.output()});
  } else if (op.is_int8()) {
    op.fail("such files pad int8 with 0 alone");
  } else {
    op.add(60, op.options(BuiltinOptions_PadV2Options, empty),
           {op.input(0), table, op.number(a.value)}, {op.output()});
  }
}

void upsample_of(Op& op) {
  const auto& a = op.attrs<Upsample2dOptions>();
  const Shape& y = op.result().shape;
  if (a.scale != 0.0 &&
      (static_cast<double>(y[1]) != a.scale * static_cast<double>(op.shape(0)[1]) ||
       a.scale_w != 0.0)) {
    op.fail("such files have it with the scale result / input alone");
  }
  const int size = op.numbers({y[1], y[2]});
  if (a.mode == Upsampling::bicubic) op.fail("such files have no bicubic resizing");
  if (a.mode == Upsampling::bilinear) {
    const auto table = CreateResizeBilinearOptions(op.builder(), a.align_corners, !a.align_corners);
    return op.add(23, 3, op.options(BuiltinOptions_ResizeBilinearOptions, table),
                  {op.input(0), size}, {op.output()});
  }
  const bool centers = a.mode == Upsampling::nearest_exact;
  const auto table = CreateResizeNearestNeighborOptions(op.builder(), false, centers);
  op.add(97,
         centers        ? 3
         : op.is_int8() ? 2
                        : 1,
         op.options(BuiltinOptions_ResizeNearestNeighborOptions, table), {op.input(0), size},
         {op.output()});
}

void embedding_of(Op& op) {
  const auto table = CreateGatherOptions(op.builder(), 0);
  op.add(36, 1, op.options(BuiltinOptions_GatherOptions, table), {op.input(1), op.input(0)},
         {op.output()});
}

void index_select_of(Op& op) {
  const auto axis = static_cast<int32_t>(op.attrs<IndexSelectOptions>().axis);
  op.add(36, op.options(BuiltinOptions_GatherOptions, CreateGatherOptions(op.builder(), axis)),
         {op.input(0), op.input(1)}, {op.output()});
}

void broadcast_of(Op& op) {
  std::vector<int64_t> sizes = written_sizes(op.result().shape);
  if (sizes == open_sizes(op.result().shape)) {
    return op.add(130, op.is_int8() ? 3 : 2,
                  op.options(BuiltinOptions_BroadcastToOptions, CreateEmptyOptions(op.builder())),
                  {op.input(0), op.numbers(sizes)}, {op.output()});
  }
  // The batch is open: a product with ones of one sample's shape.
  if (op.result().dtype != DType::f32) op.fail("such files repeat samples of f32 alone");
  sizes[0] = 1;
  const Shape sample(sizes);
  const std::vector<float> ones(static_cast<size_t>(sample.elements()), 1.0F);
  op.add(18, op.options(BuiltinOptions_MulOptions, CreateMulOptions(op.builder())),
         {op.input(0), op.floats(ones, sample)}, {op.output()});
}

void flip_of(Op& op) {
  const auto rank = static_cast<size_t>(op.shape(0).rank());
  std::vector<int64_t> steps(rank, 1);
  for (const int64_t axis : op.attrs<FlipOptions>().axes) {
    steps[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis)] = -1;
  }
  const int32_t open = (1 << rank) - 1;
  const int zeros = op.numbers(std::vector<int64_t>(rank, 0));
  op.add(45,
         op.options(BuiltinOptions_StridedSliceOptions,
                    CreateStridedSliceOptions(op.builder(), open, open)),
         {op.input(0), zeros, zeros, op.numbers(steps)}, {op.output()});
}

void pass(Op& op) { op.pass(); }

}  // namespace

std::span<const WriteRule> shape_writers() {
  static const WriteRule rules[] = {
      {"reshape", reshape_of},
      {"flatten", reshape_of},
      {"transpose", transpose_of},
      {"concat", concat_of},
      {"split", split_of},
      {"slice", slice_of},
      {"pad", pad_of},
      {"upsample2d", upsample_of},
      {"embedding", embedding_of},
      {"index_select", index_select_of},
      {"broadcast_to", broadcast_of},
      {"flip", flip_of},
      {"stop_gradient", pass},
  };
  return rules;
}

}  // namespace thimble::tflite

#include "simd/planar.h"

#include <algorithm>

namespace thimble::simd {
namespace {

constexpr int kWidestVector = 16;
constexpr int64_t kMostFloats = 48 * 1024;  // limit for one image or a band of it
constexpr int kLeastImageRuns = 8;          // least number of tasks that a batch is split into
constexpr int kStripColumns = 48;  // strips are a multiple of this: whole iterations of most tiles

// Sets the sizes that depend on the number of images, rows and columns per task.
void resize(PlanarShape& shape, const ConvPlan& plan, int images, int rows, int columns) {
  shape.images = images;
  shape.rows = rows;
  shape.columns = columns;
  shape.strips = static_cast<int>(divide_up(plan.phase_columns(), columns));
  shape.pitch = columns + shape.shift_columns;
  shape.image_runs = static_cast<int>(divide_up(plan.images, images));
  shape.bands = static_cast<int>(divide_up(plan.phase_rows(), rows));
  shape.plane_rows = rows + shape.shift_rows;
  const int64_t image_pitch = static_cast<int64_t>(shape.plane_rows) * shape.pitch;
  const int64_t in_image = static_cast<int64_t>(rows) * shape.pitch - shape.shift_columns;
  const int64_t in_all = (images - 1) * image_pitch + in_image;
  const bool skips = image_pitch - in_image >= 2 * kWidestVector;
  shape.runs = skips ? images : 1;
  shape.run_length = skips ? in_image : in_all;
  shape.run_pitch = image_pitch;
  // The last vector of a run may extend beyond it.
  shape.out_floats = round_up(in_all + kWidestVector - 1, kWidestVector);
  shape.plane_floats = round_up(
      shape.out_floats + static_cast<int64_t>(shape.shift_rows) * shape.pitch + shape.shift_columns,
      kWidestVector);
}

// The range of u for which columns offset + u * step lie in the image and are read.
struct Columns {
  int first, last;
};

Columns inside_columns(const ConvPlan& plan, const PlanarShape& shape, int offset) {
  const int step = plan.column_step;
  const int read = plan.phase_columns() + shape.shift_columns;
  const int first = offset >= 0 ? 0 : (-offset + step - 1) / step;
  const int last = offset >= plan.in_w ? 0 : std::min(read, (plan.in_w - 1 - offset) / step + 1);
  return {first, std::max(first, last)};
}

}  // namespace

PlanarCopies plan_loads(const ConvPlan& plan, const PlanarShape& shape, Workspace& workspace) {
  const int phases = shape.column_phases;
  PlanarCopies copies{workspace.take<PlanarCopy>(1 + 2 * phases), 0};
  if (copies.parts == nullptr) return copies;
  const ptrdiff_t step = static_cast<ptrdiff_t>(plan.column_step) * plan.in_c;
  const auto add = [&](int phase, int first, int last, int channels) {
    if (first >= last) return;
    copies.parts[copies.count++] = {
        static_cast<ptrdiff_t>(shape.first_column + phase) * plan.in_c + first * step,
        phase * plan.group_in * shape.plane_floats + first, first, last - first, channels};
  };
  // Fewer than four channels cannot be copied as vectors, except as every second channel of a
  // single one. But where the pixels of all phases are inside the image, their channels are
  // contiguous.
  const bool few = plan.group_in < 4 && !(step == 2 && plan.group_in == 1);
  Columns whole = inside_columns(plan, shape, shape.first_column);
  whole.last = inside_columns(plan, shape, shape.first_column + phases - 1).last;
  const bool together = few && plan.groups == 1 && phases > 1 && whole.first < whole.last;
  if (together) add(0, whole.first, whole.last, phases * plan.group_in);
  for (int p = 0; p < phases; ++p) {
    const Columns columns = inside_columns(plan, shape, shape.first_column + p);
    add(p, columns.first, together ? whole.first : columns.last, plan.group_in);
    if (together) add(p, whole.last, columns.last, plan.group_in);
  }
  return copies;
}

PlanarCopies plan_stores(const ConvPlan& plan, const PlanarShape& shape, int padded_channels,
                         Workspace& workspace) {
  const int phases = std::min(plan.out_column_step, plan.out_w);
  PlanarCopies copies{workspace.take<PlanarCopy>(1 + phases), 0};
  if (copies.parts == nullptr) return copies;
  const ptrdiff_t step = static_cast<ptrdiff_t>(plan.out_column_step) * plan.out_c;
  const auto add = [&](int phase, int first, int last, int channels) {
    if (first >= last) return;
    copies.parts[copies.count++] = {
        static_cast<ptrdiff_t>(plan.phases[phase].column) * plan.out_c + first * step,
        phase * padded_channels * shape.out_floats + first, first, last - first, channels};
  };
  // Adjacent columns that belong to different phases are written together.
  const bool together = plan.groups == 1 && padded_channels == plan.group_out && phases > 1 &&
                        phases == plan.out_column_step;
  const int whole = together ? plan.phases[phases - 1].columns : 0;
  add(0, 0, whole, phases * plan.group_out);
  for (int p = 0; p < phases; ++p) add(p, whole, plan.phases[p].columns, plan.group_out);
  return copies;
}

PlanarShape planar_shape(const ConvPlan& plan, int extra_planes, int64_t batch_floats) {
  PlanarShape shape{};
  const int row_span = plan.tap_rows.last - plan.tap_rows.first;
  const int column_span = plan.tap_columns.last - plan.tap_columns.first;
  shape.first_row = plan.tap_rows.first;
  shape.first_column = plan.tap_columns.first;
  shape.row_phases = std::min(plan.row_step, row_span + 1);
  shape.column_phases = std::min(plan.column_step, column_span + 1);
  shape.shift_rows = row_span / plan.row_step;
  shape.shift_columns = column_span / plan.column_step;
  shape.planes = shape.row_phases * shape.column_phases * plan.group_in;
  const auto floats = [&] {
    return shape.planes * shape.plane_floats + extra_planes * shape.out_floats;
  };
  const int rows = std::max(1, plan.phase_rows());
  const int columns = std::max(1, plan.phase_columns());
  resize(shape, plan, 1, rows, columns);
  // Where no tap reads a neighbouring pixel, strips cost nothing, so they are as short as those of
  // batches.
  const bool alone = row_span == 0 && column_span == 0 && rows == 1;
  const int64_t most = alone ? batch_floats : kMostFloats;
  if (floats() > most) {
    for (int fewer = rows; fewer > 1 && floats() > most; fewer = (fewer + 1) / 2) {
      resize(shape, plan, 1, (fewer + 1) / 2, columns);
    }
    if (floats() > most) {
      const int64_t fitting = columns * most / floats() / kStripColumns * kStripColumns;
      resize(shape, plan, 1, 1, static_cast<int>(std::max<int64_t>(fitting, kStripColumns)));
    }
    return shape;
  }
  const int most_images = std::max(1, plan.images / kLeastImageRuns);
  for (int images = 2; images <= most_images; ++images) {
    PlanarShape smaller = shape;
    resize(shape, plan, images, rows, columns);
    if (floats() > batch_floats) return smaller;
  }
  return shape;
}

}  // namespace thimble::simd

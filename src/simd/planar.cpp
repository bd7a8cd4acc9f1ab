#include "simd/planar.h"

#include <algorithm>

namespace thimble::simd {
namespace {

constexpr int kWidestVector = 16;
constexpr int64_t kBatchFloats = 10 * 1024;  // several images: the first-level cache
constexpr int64_t kMostFloats = 48 * 1024;   // one image or a band of it: the second
constexpr int kLeastImageRuns = 8;           // tasks that a batch is cut into at least

// Sets what depends on the number of images and rows per task.
void resize(PlanarShape& shape, const ConvPlan& plan, int images, int rows) {
  shape.images = images;
  shape.rows = rows;
  shape.image_runs = static_cast<int>(divide_up(plan.images, images));
  shape.bands = static_cast<int>(divide_up(plan.phase_rows(), rows));
  shape.plane_rows = rows + shape.shift_rows;
  shape.positions = (static_cast<int64_t>(images - 1) * shape.plane_rows + rows) * shape.pitch -
                    shape.shift_columns;
  shape.out_floats = round_up(shape.positions, kWidestVector);
  shape.plane_floats = round_up(
      shape.out_floats + static_cast<int64_t>(shape.shift_rows) * shape.pitch + shape.shift_columns,
      kWidestVector);
}

}  // namespace

PlanarShape planar_shape(const ConvPlan& plan, int extra_planes) {
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
  shape.pitch = plan.phase_columns() + shape.shift_columns;

  const auto floats = [&] {
    return shape.planes * shape.plane_floats + extra_planes * shape.out_floats;
  };
  const int rows = std::max(1, plan.phase_rows());
  resize(shape, plan, 1, rows);
  if (floats() > kMostFloats) {
    for (int fewer = rows; fewer > 1 && floats() > kMostFloats; fewer = (fewer + 1) / 2) {
      resize(shape, plan, 1, (fewer + 1) / 2);
    }
    return shape;
  }
  const int most_images = std::max(1, plan.images / kLeastImageRuns);
  for (int images = 2; images <= most_images; ++images) {
    PlanarShape smaller = shape;
    resize(shape, plan, images, rows);
    if (floats() > kBatchFloats) return smaller;
  }
  return shape;
}

}  // namespace thimble::simd

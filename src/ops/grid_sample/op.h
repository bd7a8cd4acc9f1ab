#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <cstdint>

namespace thimble::ir {
class FieldVisitor;
}

namespace thimble {

// bilinear: between the four pixels around a point; nearest: the pixel whose middle is nearest;
// bicubic: a smooth curve through the sixteen around it (Keys 1981, a = -3/4).
enum class GridMode : uint8_t { bilinear, nearest, bicubic };
// What lies outside of an image: zeros, its outermost pixels, or the image reflected.
enum class GridPadding : uint8_t { zeros, border, reflection };

struct GridSampleOptions {
  GridMode mode = GridMode::bilinear;
  GridPadding padding = GridPadding::zeros;
  bool align_corners = false;  // -1 and 1 are the middles of the outermost pixels, not their edges
};
void describe(GridSampleOptions& options, ir::FieldVisitor& visitor);

// Images at the points of a grid, such as a rotated or bent one. x: [N, H, W, C]; grid: [N, P, Q,
// 2], each point (across, down) with the image from -1 to 1; y: [N, P, Q, C]; f32. A point that is
// no number counts as far outside. Gradients flow to images and grid (none to the grid of nearest).
// Equal to torch.nn.functional.grid_sample of images. Source: Jaderberg et al., "Spatial
// transformer networks", 2015. Errors: Error where the shapes do not fit.
Value grid_sample(Value x, Value grid, const GridSampleOptions& options = {});

}  // namespace thimble

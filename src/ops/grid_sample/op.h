#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

// bilinear: interpolates the four pixels around a point; nearest: the pixel with the nearest
// center; bicubic: a cubic through the sixteen pixels around it (Keys 1981, a = -3/4).
enum class GridMode : uint8_t { bilinear, nearest, bicubic };
// Pixels outside of an image: zeros, the outermost pixels repeated, or the image reflected.
enum class GridPadding : uint8_t { zeros, border, reflection };

struct GridSampleOptions {
  GridMode mode = GridMode::bilinear;
  GridPadding padding = GridPadding::zeros;
  bool align_corners = false;  // -1 and 1 are the centers of the outermost pixels, not their edges
};
void describe(GridSampleOptions& options, ir::FieldVisitor& visitor);

// Samples images at the points of a grid, for example to rotate or warp them. x: [N, H, W, C];
// grid: [N, P, Q, 2], each point (across, down), where the image covers [-1, 1]; y: [N, P, Q, C];
// f32. Volumes alike: x: [N, D, H, W, C]; grid: [N, O, P, Q, 3], each point (across, down, deep);
// y: [N, O, P, Q, C]; bilinear interpolates the eight pixels around a point, and bicubic is not
// offered. A NaN coordinate counts as far outside. Gradients flow to x and grid (none to the grid
// with `nearest`). Equal to torch.nn.functional.grid_sample. Source: Jaderberg et al., "Spatial
// transformer networks", 2015. Errors: Error if the shapes do not match.
Value grid_sample(Value x, Value grid, const GridSampleOptions& options = {});

}  // namespace thimble

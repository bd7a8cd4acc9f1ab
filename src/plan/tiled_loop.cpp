#include "plan/tiled_loop.h"

#include <algorithm>

#include "ir/tiling.h"
#include "plan/arena.h"

namespace thimble::plan {
namespace {

// With fewer tiles a thread might wait long for the others.
constexpr int64_t kTilesPerThread = 3;

// Of the gradient's kernel, for the largest and for the last tile.
int64_t gradient_workspace(const TiledLoop& loop, const ir::OpDef& gradient, int threads) {
  if (gradient.kernels.fast == nullptr || gradient.kernels.workspace == nullptr) return 0;
  int64_t bytes = 0;
  for (const int64_t tile : {int64_t{0}, loop.tiles() - 1}) {
    const int64_t first = tile * loop.tile_rows;
    const ir::Params params = loop.gradient.changed([&](void* open) {
      gradient.memory.part.part(open, first, std::min(loop.tile_rows, loop.rows - first));
    });
    bytes = std::max(bytes, gradient.kernels.workspace(params, threads));
  }
  return aligned(bytes);
}

}  // namespace

bool TiledLoop::is_shared_by_tiles(int threads) const {
  return threads > 1 && tiles() >= kTilesPerThread * threads;
}

TiledLoop tiled_loop(const ir::Graph& graph, const ir::Node& node) {
  const ir::TensorType& param = graph.type(node.input(0));
  const int64_t rows = param.shape[0];
  TiledLoop loop;
  loop.gradient = gradient_params(graph, node);
  loop.update = kernel_params(graph, node);
  loop.rows = rows;
  loop.tile_rows = std::min(node.tiled->rows, rows);
  loop.row_elements = param.shape.elements() / std::max<int64_t>(1, rows);
  loop.row_bytes = size_bytes(param.dtype, param.shape) / std::max<int64_t>(1, rows);
  loop.scratch_bytes = aligned(loop.tile_rows * loop.row_bytes);
  loop.tile_bytes = loop.scratch_bytes + gradient_workspace(loop, *node.tiled->op, 1);
  return loop;
}

int64_t workspace_bytes(const TiledLoop& loop, const ir::OpDef& gradient, int threads) {
  if (loop.is_shared_by_tiles(threads)) return threads * loop.tile_bytes;
  return loop.scratch_bytes + gradient_workspace(loop, gradient, threads);
}

}  // namespace thimble::plan

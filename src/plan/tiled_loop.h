// How a tiled update runs: a loop over two kernels, and the memory of a tile.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/graph.h"

namespace thimble::plan {

// Parameters of a tiled gradient's kernel are copied for each tile; larger ones are not tiled.
inline constexpr int64_t kMostTiledParams = 256;  // bytes
inline constexpr size_t kMostTiledInputs = 16;    // that an update declares

// The calls of a tiled update for the whole parameter, and its tiles. For each tile the executor
// runs the gradient's kernel into scratch memory, with the parameters that PartRule::part makes,
// then the update's kernel on these rows of the parameter and of its states, with the number of
// elements as the first field of its parameters (OptimizerRule::elementwise).
struct TiledLoop {
  ir::Params gradient;
  ir::Params update;
  int64_t rows = 0;           // of the parameter
  int64_t tile_rows = 0;      // the last tile may have fewer
  int64_t row_elements = 0;   // of the parameter, its gradient and each state
  int64_t row_bytes = 0;      // likewise
  int64_t scratch_bytes = 0;  // of a tile's gradient, aligned
  int64_t tile_bytes = 0;     // scratch and workspace of a tile that one thread computes, aligned

  [[nodiscard]] int64_t tiles() const { return (rows + tile_rows - 1) / tile_rows; }
  // Whether each thread computes tiles of its own; else all threads share each tile.
  [[nodiscard]] bool is_shared_by_tiles(int threads) const;
};

// Of a node that is a tiled update.
[[nodiscard]] TiledLoop tiled_loop(const ir::Graph& graph, const ir::Node& node);

// Bytes of memory that it wants in the arena.
[[nodiscard]] int64_t workspace_bytes(const TiledLoop& loop, const ir::OpDef& gradient,
                                      int threads);

}  // namespace thimble::plan

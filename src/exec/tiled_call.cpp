#include "exec/tiled_call.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "ir/tiling.h"

namespace thimble::exec {
namespace {

// Parameters of a kernel that are changed for each tile.
struct OpenParams {
  alignas(16) std::byte bytes[plan::kMostTiledParams];

  explicit OpenParams(const ir::Params& params) {
    std::copy(params.bytes().begin(), params.bytes().end(), bytes);
  }
};

struct Tile {
  int64_t first;
  int64_t rows;
};

// A pool without worker threads, because each thread computes its tiles alone.
parallel::ThreadPool& alone() {
  static parallel::ThreadPool pool(1);
  return pool;
}

void compute_gradient(const TiledCall& tiled, const Tile& tile, std::byte* scratch,
                      parallel::ThreadPool& pool) {
  OpenParams params(tiled.loop->gradient);
  tiled.gradient->memory.part.part(params.bytes, tile.first, tile.rows);
  void* const outputs[] = {scratch};
  tiled.gradient_kernel({outputs, tiled.gradient_inputs, scratch + tiled.loop->scratch_bytes,
                         params.bytes, tiled.gradient_input_count, 1, &pool});
}

void apply_rule(const TiledCall& tiled, const Tile& tile, const std::byte* gradient,
                parallel::ThreadPool& pool) {
  const plan::TiledLoop& loop = *tiled.loop;
  const ir::KernelCall& whole = tiled.call;
  std::array<void*, plan::kMostTiledInputs> outputs{};
  std::array<const void*, plan::kMostTiledInputs> inputs{};
  std::copy(whole.inputs, whole.inputs + whole.input_count, inputs.begin());
  inputs[ir::kGradientInput] = gradient;
  for (const ir::Alias& alias : tiled.update->memory.updates) {
    const auto in = static_cast<size_t>(alias.in);
    if (alias.out >= whole.output_count || inputs[in] == nullptr) continue;
    const auto out = static_cast<size_t>(alias.out);
    outputs[out] = static_cast<std::byte*>(whole.outputs[out]) + tile.first * loop.row_bytes;
    inputs[in] = outputs[out];
  }
  OpenParams params(loop.update);
  const int elements = static_cast<int>(tile.rows * loop.row_elements);
  std::memcpy(params.bytes, &elements, sizeof(elements));
  tiled.update_kernel({outputs.data(), inputs.data(), nullptr, params.bytes, whole.input_count,
                       whole.output_count, &pool});
}

void run_tile(const TiledCall& tiled, int64_t number, std::byte* memory,
              parallel::ThreadPool& pool) {
  const plan::TiledLoop& loop = *tiled.loop;
  const int64_t first = number * loop.tile_rows;
  const Tile tile{first, std::min(loop.tile_rows, loop.rows - first)};
  compute_gradient(tiled, tile, memory, pool);
  apply_rule(tiled, tile, memory, pool);
}

}  // namespace

void TiledCall::prepare() { alone(); }

void TiledCall::run() const {
  auto* const base = static_cast<std::byte*>(call.workspace);
  if (!loop->is_shared_by_tiles(call.pool->threads())) {
    for (int64_t number = 0; number < loop->tiles(); ++number) {
      run_tile(*this, number, base, *call.pool);
    }
    return;
  }
  call.pool->run_with_worker(loop->tiles(), [&](int64_t number, int worker) {
    run_tile(*this, number, base + worker * loop->tile_bytes, alone());
  });
}

}  // namespace thimble::exec

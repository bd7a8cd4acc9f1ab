// Bandwidth of a swap file by size of the staging buffers and by engine, compared with plain
// transfers of the same bytes in one call from aligned memory. Uses TMPDIR, or /tmp.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "exec/memory.h"
#include "exec/swap_checksum.h"
#include "exec/swap_disk.h"
#include "exec/swap_file.h"

namespace {

using namespace thimble::exec;

constexpr int kSlots = 16;
constexpr int64_t kSlotBytes = int64_t{4} << 20;

void count_bytes(benchmark::State& state, int64_t bytes) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * bytes);
}

// One round writes every slot and reads it back, as a step does that swaps tensors of 4 MiB.
// Arguments: KiB per staging buffer, buffers, engine.
void swap_file(benchmark::State& state, bool write) {
  SwapOptions options;
  options.buffer_bytes = state.range(0) << 10;
  options.buffers = static_cast<int>(state.range(1));
  options.engine = static_cast<SwapEngine>(state.range(2));
  SwapFile file("", std::vector<int64_t>(kSlots, kSlotBytes), options);
  std::vector<std::byte> data(kSlotBytes, std::byte{7});
  for (int slot = 0; slot < kSlots; ++slot) file.start_write(slot, data.data(), kSlotBytes);
  const auto wait = [&] {
    for (int slot = 0; slot < kSlots; ++slot) {
      if (!file.wait(slot)) state.SkipWithError(file.error().c_str());
    }
  };
  wait();
  for (auto _ : state) {
    for (int slot = 0; slot < kSlots; ++slot) {
      if (write) {
        file.start_write(slot, data.data(), kSlotBytes);
      } else {
        file.start_read(slot, data.data(), kSlotBytes);
      }
    }
    wait();
  }
  count_bytes(state, kSlots * kSlotBytes);
}
void swap_out(benchmark::State& state) { swap_file(state, true); }
void swap_in(benchmark::State& state) { swap_file(state, false); }

void engines(benchmark::internal::Benchmark* benchmark) {
  for (const SwapEngine engine : {SwapEngine::uring, SwapEngine::blocking}) {
    for (const int64_t kib : {16, 64, 128, 256, 1024}) {
      for (const int64_t buffers : {2, 4}) {
        if (engine == SwapEngine::blocking && buffers > 2) continue;
        benchmark->Args({kib, buffers, static_cast<int64_t>(engine)});
      }
    }
  }
  benchmark->ArgNames({"KiB", "buffers", "engine"})->UseRealTime()->Unit(benchmark::kMillisecond);
}
BENCHMARK(swap_out)->Apply(engines);
BENCHMARK(swap_in)->Apply(engines);

// The same bytes by direct pwrite or pread, in calls of a given number of KiB, from aligned memory,
// without copies and checksums.
void direct(benchmark::State& state, bool write) {
  const int64_t call_bytes = state.range(0) << 10;
  const Block block(call_bytes + kSwapBlock);
  const auto address = reinterpret_cast<uintptr_t>(block.data());
  std::byte* const data = block.data() + (kSwapBlock - address % kSwapBlock) % kSwapBlock;
  const SwapDisk disk(SwapFile::default_folder(), kSlots * kSlotBytes, true, data);
  if (!disk.direct()) return state.SkipWithError("no direct transfers in this folder");
  const auto round = [&](bool out) {
    for (int64_t offset = 0; offset < disk.bytes(); offset += call_bytes) {
      const auto bytes = static_cast<size_t>(call_bytes);
      const ssize_t moved = out ? ::pwrite(disk.descriptor(), data, bytes, offset)
                                : ::pread(disk.descriptor(), data, bytes, offset);
      if (moved != call_bytes) state.SkipWithError("a transfer failed");
    }
  };
  round(true);
  for (auto _ : state) round(write);
  count_bytes(state, disk.bytes());
}
void direct_write(benchmark::State& state) { direct(state, true); }
void direct_read(benchmark::State& state) { direct(state, false); }
void calls(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("KiB")->UseRealTime()->Unit(benchmark::kMillisecond);
  for (const int64_t kib : {16, 64, 256, 1024}) benchmark->Arg(kib);
}
BENCHMARK(direct_write)->Apply(calls);
BENCHMARK(direct_read)->Apply(calls);

void copy_and_checksum(benchmark::State& state) {
  const auto bytes = static_cast<size_t>(state.range(0));
  std::vector<std::byte> source(bytes, std::byte{7});
  std::vector<std::byte> target(bytes);
  for (auto _ : state) {
    benchmark::DoNotOptimize(copy_with_checksum(target.data(), source.data(), state.range(0), 0));
  }
  count_bytes(state, state.range(0));
}
BENCHMARK(copy_and_checksum)->Arg(16 << 10)->Arg(256 << 10)->Arg(64 << 20);

}  // namespace

BENCHMARK_MAIN();

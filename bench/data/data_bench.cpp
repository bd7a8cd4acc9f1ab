// Cost of the input pipeline: drawing the built-in digits, and reading batches of them.
#include <benchmark/benchmark.h>
#include <thimble/data_loader.h>

namespace {

using namespace thimble::data;

void draw_digits(benchmark::State& state) {
  constexpr int64_t kCount = 1000;
  for (auto _ : state) benchmark::DoNotOptimize(digits(kCount, 1));
  state.SetItemsProcessed(state.iterations() * kCount);
}
BENCHMARK(draw_digits)->Unit(benchmark::kMillisecond);

// Reads one epoch of 10,000 images in shuffled batches of 32; the argument is the number of
// prefetched batches.
void read_epoch(benchmark::State& state) {
  Loader loader(digits(10000, 1), {.prefetch = static_cast<int>(state.range(0))});
  int64_t epoch = 0;
  for (auto _ : state) {
    loader.start(epoch++);
    while (const Batch* batch = loader.next()) benchmark::DoNotOptimize(batch->fields.data());
  }
  state.SetItemsProcessed(state.iterations() * loader.dataset().size());
}
BENCHMARK(read_epoch)->Arg(0)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();

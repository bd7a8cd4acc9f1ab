// Times int8 convolutions beside our f32 convolutions of the same sizes. The counter "fastest" is
// the time of the fastest call in seconds.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "kernels/bench.h"
#include "ops/families/conv/conv_kernels.h"
#include "simd/int8.h"

namespace {

using namespace thimble;
using bench::pool;

struct Layer {
  const char* name;
  int batch, size, channels, kernels, window, stride;
  bool depthwise;
};

// Of ResNet-18, MobileNetV2 and MCUNet, and a dense layer as a convolution of one pixel an image.
constexpr Layer kLayers[] = {
    {"conv3x3_56_64", 1, 56, 64, 64, 3, 1, false},
    {"conv3x3_28_128", 1, 28, 128, 128, 3, 1, false},
    {"conv3x3_14_256", 1, 14, 256, 256, 3, 1, false},
    {"stem7x7_224_3", 1, 224, 3, 64, 7, 2, false},
    {"conv1x1_56_24_144", 1, 56, 24, 144, 1, 1, false},
    {"conv1x1_14_384_64", 1, 14, 384, 64, 1, 1, false},
    {"conv1x1_8_192_48", 1, 8, 192, 48, 1, 1, false},
    {"dense_64_1024", 64, 1, 1024, 1024, 1, 1, false},
    {"depthwise3x3_56_144", 1, 56, 144, 144, 3, 1, true},
    {"depthwise7x7_16_160", 1, 16, 160, 160, 7, 1, true},
};

conv_dims dims_of(const Layer& l) {
  conv_dims d{};
  d.n = l.batch;
  d.h = d.w = l.size;
  d.c = l.channels;
  d.k = l.kernels;
  d.r = d.s = l.window;
  d.stride_h = d.stride_w = l.stride;
  d.pad_top = d.pad_left = l.window / 2;
  d.p = d.q = (l.size + 2 * d.pad_top - l.window) / l.stride + 1;
  d.dilation_h = d.dilation_w = 1;
  d.groups = l.depthwise ? l.channels : 1;
  return d;
}

int64_t multiply_adds(const conv_dims& d) {
  return int64_t{d.n} * d.p * d.q * d.k * d.r * d.s * (d.c / d.groups);
}

// Aligned like the buffers of a planned arena.
template <class T>
class Buffer {
 public:
  explicit Buffer(int64_t count)
      : memory_(static_cast<T*>(
            std::aligned_alloc(64, (static_cast<size_t>(count) * sizeof(T) + 127) / 64 * 64))) {
    for (int64_t i = 0; i < count; ++i) memory_.get()[i] = static_cast<T>(i * 7919 % 251 - 125);
  }
  T* data() { return memory_.get(); }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<T, Free> memory_;
};

template <class Call>
void time_calls(benchmark::State& state, const conv_dims& d, const Call& call) {
  using Clock = std::chrono::steady_clock;
  Clock::duration fastest = Clock::duration::max();
  for (auto _ : state) {
    const Clock::time_point start = Clock::now();
    call();
    benchmark::ClobberMemory();
    fastest = std::min(fastest, Clock::now() - start);
  }
  const double seconds = std::chrono::duration<double>(fastest).count();
  state.counters["fastest"] = seconds;
  state.counters["GMAC/s"] = 1e-9 * static_cast<double>(multiply_adds(d)) / seconds;
}

template <class T>
struct Tensors {
  explicit Tensors(const conv_dims& d)
      : x(int64_t{d.n} * d.h * d.w * d.c),
        w(int64_t{d.k} * d.r * d.s * (d.c / d.groups)),
        y(int64_t{d.n} * d.p * d.q * d.k) {}
  Buffer<T> x, w, y;
};

void run_float(benchmark::State& state, const conv_dims& d) {
  Tensors<float> t(d);
  Buffer<float> bias(d.k);
  Buffer<char> workspace(ops::conv2d_impl::conv2d_workspace_bytes(d, pool().threads()));
  time_calls(state, d, [&] {
    ops::conv2d_impl::conv2d_simd(t.y.data(), t.x.data(), t.w.data(), bias.data(), workspace.data(),
                                  &d, pool());
  });
}

void run_int8(benchmark::State& state, const conv_dims& d) {
  Tensors<int8_t> t(d);
  Buffer<int32_t> bias(d.k);
  Buffer<char> workspace(simd::int8_conv_workspace_bytes(d, pool().threads()));
  const std::vector<quantized_factor> factors(static_cast<size_t>(d.k), {1e-4F, 1 << 30, -12});
  const simd::Int8Result result{{0, 3, -128, 127}, -5, factors.data()};
  time_calls(state, d, [&] {
    simd::int8_conv(t.y.data(), t.x.data(), t.w.data(), bias.data(), workspace.data(), d, result,
                    pool());
  });
}

}  // namespace

int main(int argc, char** argv) {
  for (const Layer& layer : kLayers) {
    const conv_dims d = dims_of(layer);
    bench::add(std::string(layer.name) + "/f32",
               [d](benchmark::State& state) { run_float(state, d); });
    bench::add(std::string(layer.name) + "/int8",
               [d](benchmark::State& state) { run_int8(state, d); });
  }
  return bench::run(argc, argv);
}

// Times int8 convolutions beside our f32 convolutions of the same sizes, in turns. Counters: the
// fastest call of each in microseconds, and how many times faster int8 is.
#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "kernels/bench.h"
#include "ops/families/conv/conv_kernels.h"
#include "simd/int8.h"

namespace {

using namespace thimble;
using bench::pool;

enum class Kind : uint8_t { plain, depthwise, transposed };

struct Layer {
  const char* name;
  int batch, size, channels, kernels, window, stride;
  Kind kind = Kind::plain;
};

// Of ResNet-18, MobileNetV2, MCUNet and a decoder, and a dense layer as a convolution of one pixel
// an image.
constexpr Layer kLayers[] = {
    {"conv3x3_56_64", 1, 56, 64, 64, 3, 1},
    {"conv3x3_28_128", 1, 28, 128, 128, 3, 1},
    {"conv3x3_14_256", 1, 14, 256, 256, 3, 1},
    {"stem7x7_224_3", 1, 224, 3, 64, 7, 2},
    {"stem3x3_160_3", 1, 160, 3, 16, 3, 2},
    {"conv1x1_56_24_144", 1, 56, 24, 144, 1, 1},
    {"conv1x1_14_384_64", 1, 14, 384, 64, 1, 1},
    {"conv1x1_8_192_48", 1, 8, 192, 48, 1, 1},
    {"dense_64_1024", 64, 1, 1024, 1024, 1, 1},
    {"depthwise3x3_56_144", 1, 56, 144, 144, 3, 1, Kind::depthwise},
    {"depthwise7x7_16_160", 1, 16, 160, 160, 7, 1, Kind::depthwise},
    {"transposed4x4_14_128_64", 1, 14, 128, 64, 4, 2, Kind::transposed},
    {"transposed3x3_28_64_32", 1, 28, 64, 32, 3, 2, Kind::transposed},
};

conv_dims dims_of(const Layer& l) {
  conv_dims d{};
  d.n = l.batch;
  d.h = d.w = l.size;
  d.c = l.channels;
  d.k = l.kernels;
  d.r = d.s = l.window;
  d.stride_h = d.stride_w = l.stride;
  d.pad_top = d.pad_left = l.kind == Kind::transposed ? 1 : l.window / 2;
  d.p = d.q = l.kind == Kind::transposed ? l.size * l.stride
                                         : (l.size + 2 * d.pad_top - l.window) / l.stride + 1;
  d.dilation_h = d.dilation_w = 1;
  d.groups = l.kind == Kind::depthwise ? l.channels : 1;
  return d;
}

int64_t multiply_adds(const conv_dims& d, Kind kind) {
  const int64_t windows = kind == Kind::transposed ? int64_t{d.h} * d.w : int64_t{d.p} * d.q;
  return d.n * windows * d.k * d.r * d.s * (d.c / d.groups);
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

// The fastest of some calls in a row, or `fastest`, in seconds.
template <class Call>
void time_calls(double& fastest, const Call& call) {
  using Clock = std::chrono::steady_clock;
  constexpr int kCalls = 4;
  for (int i = 0; i < kCalls; ++i) {
    const Clock::time_point start = Clock::now();
    call();
    benchmark::ClobberMemory();
    fastest = std::min(fastest, std::chrono::duration<double>(Clock::now() - start).count());
  }
}

template <class T>
struct Tensors {
  explicit Tensors(const conv_dims& d)
      : x(int64_t{d.n} * d.h * d.w * d.c),
        w(int64_t{d.k} * d.r * d.s * (d.c / d.groups)),
        y(int64_t{d.n} * d.p * d.q * d.k) {}
  Buffer<T> x, w, y;
};

// Calls of f32 and of int8 in turns.
void run_beside(benchmark::State& state, const Layer& layer) {
  const conv_dims d = dims_of(layer);
  const bool transposed = layer.kind == Kind::transposed;
  const int threads = pool().threads();
  Tensors<float> numbers(d);
  Buffer<float> float_bias(d.k);
  Buffer<char> float_workspace(
      transposed ? ops::conv_transpose2d_impl::conv_transpose2d_workspace_bytes(d, threads)
                 : ops::conv2d_impl::conv2d_workspace_bytes(d, threads));
  const auto float_kernel = transposed ? ops::conv_transpose2d_impl::conv_transpose2d_simd
                                       : ops::conv2d_impl::conv2d_simd;
  Tensors<int8_t> bytes(d);
  Buffer<int32_t> bias(d.k);
  Buffer<char> workspace(transposed ? simd::int8_conv_transpose_workspace_bytes(d, threads)
                                    : simd::int8_conv_workspace_bytes(d, threads));
  const auto kernel = transposed ? simd::int8_conv_transpose : simd::int8_conv;
  const std::vector<quantized_factor> factors(static_cast<size_t>(d.k), {1e-4F, 1 << 30, -12});
  const simd::Int8Result result{{0, 3, -128, 127}, -5, factors.data()};
  double fastest_float = std::numeric_limits<double>::max();
  double fastest_int8 = fastest_float;
  for (auto _ : state) {
    time_calls(fastest_float, [&] {
      float_kernel(numbers.y.data(), numbers.x.data(), numbers.w.data(), float_bias.data(),
                   float_workspace.data(), &d, pool());
    });
    time_calls(fastest_int8, [&] {
      kernel(bytes.y.data(), bytes.x.data(), bytes.w.data(), bias.data(), workspace.data(), d,
             result, pool(), simd::Int8Words::fastest);
    });
  }
  state.counters["f32_us"] = 1e6 * fastest_float;
  state.counters["int8_us"] = 1e6 * fastest_int8;
  state.counters["times_faster"] = fastest_float / fastest_int8;
  state.counters["int8_GMAC/s"] =
      1e-9 * static_cast<double>(multiply_adds(d, layer.kind)) / fastest_int8;
}

}  // namespace

int main(int argc, char** argv) {
  for (const Layer& layer : kLayers) {
    bench::add(layer.name, [&layer](benchmark::State& state) { run_beside(state, layer); });
  }
  return bench::run(argc, argv);
}

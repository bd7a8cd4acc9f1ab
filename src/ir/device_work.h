// What a kernel's C source for microcontrollers does, to predict its instructions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace thimble::ir {

// The inner loops of int8 kernels in C for Cortex-M. Sizes decide which one runs.
enum class DeviceLoop : uint8_t {
  tiles,            // several pixels by several channels
  depthwise,        // windows of one channel side by side
  rows,             // one row of numbers by all weights, such as a dense layer at batch 1
  plain,            // one product after another, and results of fixed point or with other bounds
  plain_depthwise,  // likewise, where each channel reads itself
};
inline constexpr size_t kDeviceLoops = 5;

// Multiply-accumulates, and the results that they are summed up in, by the loop. No results at all:
// the kernel does not say.
struct DeviceWork {
  struct Part {
    double products = 0.0;
    double results = 0.0;
  };
  std::array<Part, kDeviceLoops> parts;

  void add(DeviceLoop loop, double products, double results) {
    Part& part = parts[static_cast<size_t>(loop)];
    part.products += products;
    part.results += results;
  }
};

}  // namespace thimble::ir

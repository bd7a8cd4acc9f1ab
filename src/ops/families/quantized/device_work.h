// What the kernels of quantized layers do on microcontrollers, to predict their instructions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/op_context.h"

namespace thimble::ops {

// The inner loops of these kernels in C for Cortex-M. Sizes decide which one runs.
enum class DeviceLoop : uint8_t {
  tiles,            // several pixels by several channels
  depthwise,        // windows of one channel side by side
  rows,             // one row of numbers by all weights, such as a dense layer at batch 1
  plain,            // one product after another, and results of fixed point or with other bounds
  plain_depthwise,  // likewise, where each channel reads itself
};
inline constexpr size_t kDeviceLoops = 5;

// Multiply-accumulates, and the results that they are summed up in, by the loop.
struct DeviceWork {
  struct Part {
    double products = 0.0;
    double results = 0.0;
  };
  std::array<Part, kDeviceLoops> parts;
};

// Of a quantized convolution, a dense layer, a chain of convolutions or a gradient of these, and of
// sums in fixed point, with the parameters of the kernel. Nothing of other ops.
[[nodiscard]] std::optional<DeviceWork> device_work(std::string_view op, const ir::Params& params);

}  // namespace thimble::ops

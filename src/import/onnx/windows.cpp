#include "import/onnx/windows.h"

#include <fmt/format.h>

#include <algorithm>

namespace thimble::importer::onnx {

Padding padding_of(const Window& window) {
  const std::vector<int64_t>& before = window.before;
  const std::vector<int64_t>& after = window.after;
  if (before.size() == 1) return {0, 0, before[0], after[0]};
  return {before[0], after[0], before[1], after[1]};
}

std::vector<int64_t> per_axis(const Node& node, const char* name, size_t axes, int64_t otherwise) {
  std::vector<int64_t> numbers = node.integers(name);
  if (numbers.empty()) numbers.assign(axes, otherwise);
  if (numbers.size() != axes) node.fail(fmt::format("expected {} numbers as {}", axes, name));
  for (const int64_t number : numbers) {
    if (number < 0 || number >= kBatch) node.fail(fmt::format("{} is out of range", name));
  }
  return numbers;
}

std::vector<int64_t> spatial(const Shape& image) {
  return {image.dims().begin() + 2, image.dims().end()};
}

Window window_of(const Node& node, const std::vector<int64_t>& sizes, std::vector<int64_t> kernel) {
  const size_t axes = sizes.size();
  Window made;
  made.kernel = kernel.empty() ? per_axis(node, "kernel_shape", axes, 0) : std::move(kernel);
  made.stride = per_axis(node, "strides", axes, 1);
  made.dilation = per_axis(node, "dilations", axes, 1);
  const std::vector<int64_t> pads = per_axis(node, "pads", 2 * axes, 0);
  made.before.assign(pads.begin(), pads.begin() + static_cast<int64_t>(axes));
  made.after.assign(pads.begin() + static_cast<int64_t>(axes), pads.end());
  for (size_t i = 0; i < axes; ++i) {
    node.require(made.kernel[i] >= 1 && made.stride[i] >= 1 && made.dilation[i] >= 1,
                 "expected kernels, strides and dilations of at least 1");
  }
  const std::string automatic = node.text("auto_pad", "NOTSET");
  if (automatic == "VALID") {
    made.before.assign(axes, 0);
    made.after.assign(axes, 0);
  } else if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    for (size_t i = 0; i < axes; ++i) {
      const int64_t places = (sizes[i] + made.stride[i] - 1) / made.stride[i];
      const int64_t all = std::max<int64_t>(
          (places - 1) * made.stride[i] + (made.kernel[i] - 1) * made.dilation[i] + 1 - sizes[i],
          0);
      made.before[i] = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
      made.after[i] = all - made.before[i];
    }
  } else if (automatic != "NOTSET" && !automatic.empty()) {
    node.fail("auto_pad is not known");
  }
  return made;
}

}  // namespace thimble::importer::onnx

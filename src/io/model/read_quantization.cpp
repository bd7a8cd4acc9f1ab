#include "io/model/read_quantization.h"

#include <cstdint>
#include <limits>

#include "io/model/fields.h"
#include "ir/canonical.h"
#include "ir/sizes.h"

namespace thimble::io {
namespace {

constexpr size_t kMostScales = size_t{1} << 24;
constexpr size_t kMostAxes = ir::kMostRank;

}  // namespace

std::shared_ptr<const Quantization> read_quantization(const std::string& file,
                                                      const std::string& path,
                                                      const nlohmann::json& object) {
  const Fields fields(file, path, object, {"scales", "zero_points", "axis"});
  auto q = std::make_shared<Quantization>();
  for (const nlohmann::json& scale : fields.list("scales", kMostScales)) {
    const double value = scale.is_number() ? scale.get<double>() : -1.0;
    if (!(value > 0.0 && value <= static_cast<double>(std::numeric_limits<float>::max()))) {
      fields.expected("scales", "f32 numbers above 0", scale);
    }
    q->scales.push_back(static_cast<float>(value));
  }
  for (const nlohmann::json& zero : fields.list("zero_points", kMostScales)) {
    constexpr int64_t kLow = std::numeric_limits<int32_t>::min();
    constexpr int64_t kHigh = std::numeric_limits<int32_t>::max();
    const bool is_whole = zero.is_number_integer() && zero >= kLow && zero <= kHigh;
    if (!is_whole) fields.expected("zero_points", "whole numbers of 32 bits", zero);
    q->zero_points.push_back(zero.get<int32_t>());
  }
  if (fields.find("axis") != nullptr) q->axis = fields.index("axis", kMostAxes, "axes");
  *q = ir::canonical(std::move(*q));
  return q;
}

}  // namespace thimble::io

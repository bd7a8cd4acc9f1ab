#include "ops/families/kernel/integers.h"

#include <fmt/format.h>

#include "ir/element.h"

namespace thimble::ops {

void require_holds(const ir::InferContext& c, DType dtype, double number) {
  if (is_floating(dtype)) return;
  int64_t back = element_int_of(number);
  int64_t held = 0;
  element_store_int(&held, static_cast<int>(dtype), 0, back);
  held = element_load_int(&held, static_cast<int>(dtype), 0);
  c.require(static_cast<double>(back) == number && held == back,
            fmt::format("{} cannot hold {}", to_string(dtype), number));
}

}  // namespace thimble::ops

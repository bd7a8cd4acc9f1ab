#include "harness/op_cases.h"

namespace thimble::test::local_response_norm_test {

THIMBLE_OP_CASES(local_response_norm) {
  const auto attrs = [](int64_t size, double alpha = 0.5, double beta = 0.75, double k = 1.0) {
    return ir::Attrs::of(LocalResponseNormOptions{size, alpha, beta, k});
  };
  const auto of = [&](const char* name, const Shape& x, const ir::Attrs& a) {
    return OpCase{.name = name,
                  .inputs = {{.shape = x, .low = -2.0, .high = 2.0}},
                  .attrs = a,
                  .expect = {x}};
  };
  return {
      .cases = {of("images", {3, 4, 5, 32}, attrs(5)), of("even_size", {2, 3, 3, 19}, attrs(4)),
                of("own_channel_alone", {2, 3, 3, 5}, attrs(1)),
                of("wider_than_channels", {2, 3, 3, 3}, attrs(9)),
                of("another_exponent", {2, 3, 3, 20}, attrs(5, 1.0, 1.25, 2.0)),
                of("one_channel", {4, 3, 1}, attrs(5)), of("vectors", {700, 24}, attrs(3)),
                of("many_channels", {2, 2, 300}, attrs(5)),
                of("empty_batch", {0, 3, 3, 8}, attrs(5))},
      .rejects =
          {{"no_size", {{.shape = {2, 3, 4}}}, attrs(0), "a size of 1"},
           {"a_vector", {{.shape = {4}}}, attrs(5), "expected x [N, ..., C]"},
           {"integers", {{.shape = {2, 4}, .dtype = DType::i32}}, attrs(5), "must be floating"}},
  };
}

}  // namespace thimble::test::local_response_norm_test

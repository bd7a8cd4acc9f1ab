#include "harness/op_cases.h"

namespace thimble::test::cosine_embedding_test {

THIMBLE_OP_CASES(cosine_embedding) {
  const auto of = [](const char* name, const Shape& x, const Shape& rows,
                     const CosineEmbeddingOptions& options = {}) {
    return OpCase{.name = name,
                  .inputs = {{.shape = x}, {.shape = x}, {.shape = rows, .dtype = DType::i32}},
                  .attrs = ir::Attrs::of(options),
                  .expect = {options.reduction == Reduction::none ? rows : Shape{}}};
  };
  const TensorSpec row{.shape = {4, 3}};
  const ir::Attrs attrs = ir::Attrs::of(CosineEmbeddingOptions{});
  OpCase real_targets = of("real_targets", {7, 5}, {7});
  real_targets.inputs[2] = {.shape = {7}, .low = 1.0, .high = 1.0};
  real_targets.no_grad = {2};
  return {
      .cases = {of("mean", {7, 5}, {7}), of("sum", {7, 5}, {7}, {.reduction = Reduction::sum}),
                of("batch_mean", {3, 4, 5}, {3, 4}, {.reduction = Reduction::batch_mean}),
                of("rows", {3, 4, 5}, {3, 4}, {.reduction = Reduction::none}),
                of("margin", {9, 5}, {9}, {.margin = 0.3}), of("one_row", {5}, {}),
                of("many", {3000, 7}, {3000}),
                of("no_rows", {0, 5}, {0}, {.reduction = Reduction::sum}), real_targets},
      .rejects = {{"shapes",
                   {row, {.shape = {4, 2}}, {.shape = {4}, .dtype = DType::i32}},
                   attrs,
                   "of one type and shape"},
                  {"targets", {row, row, {.shape = {3}, .dtype = DType::i32}}, attrs, "shape [4]"},
                  {"bytes",
                   {row, row, {.shape = {4}, .dtype = DType::u8}},
                   attrs,
                   "must be floating or i32"}},
  };
}

}  // namespace thimble::test::cosine_embedding_test

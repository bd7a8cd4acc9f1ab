#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test::embedding_test {

THIMBLE_OP_CASES(embedding) {
  const auto indices = [](const Shape& shape, double last) {
    return TensorSpec{.shape = shape, .dtype = DType::i32, .low = 0, .high = last};
  };
  const auto padding = [](int64_t index) { return ir::Attrs::of(EmbeddingAttrs{index}); };
  const auto shortened = [](double norm, double p) {
    return ir::Attrs::of(EmbeddingAttrs{.max_norm = norm, .norm_type = p});
  };
  const auto none = padding(-1);
  return {
      .cases = {{"vector", {indices({7}, 3), {.shape = {4, 5}}}, none, {{7, 5}}},
                {"sentences", {indices({3, 4}, 8), {.shape = {9, 6}}}, none, {{3, 4, 6}}},
                {"one_index", {indices({}, 2), {.shape = {3, 4}}}, none, {{4}}},
                // The gradient leaves out the padding on purpose; goldens check it.
                {.name = "padding",
                 .inputs = {indices({3, 4}, 2), {.shape = {3, 6}}},
                 .attrs = padding(1),
                 .expect = {{3, 4, 6}},
                 .no_grad = {1}},
                {"sparse",
                 {indices({3, 4}, 8), {.shape = {9, 6}}},
                 ir::Attrs::of(EmbeddingAttrs{.sparse = true}),
                 {{3, 4, 6}}},
                // Their gradients are PyTorch's, not those of what is computed.
                {.name = "max_norm",
                 .inputs = {indices({3, 4}, 8), {.shape = {9, 6}}},
                 .attrs = shortened(1.0, 2.0),
                 .no_grad = {1}},
                {.name = "max_norm_of_type_1",
                 .inputs = {indices({3, 4}, 8), {.shape = {9, 6}}},
                 .attrs = shortened(1.5, 1.0),
                 .no_grad = {1}},
                {"one_row", {indices({5}, 0), {.shape = {1, 1}}}, none, {{5, 1}}},
                {"nothing", {indices({2, 0}, 0), {.shape = {3, 4}}}, none, {{2, 0, 4}}},
                {"no_width", {indices({2}, 1), {.shape = {3, 0}}}, none, {{2, 0}}},
                {"many_rows", {indices({300}, 899), {.shape = {900, 200}}}, none, {{300, 200}}}},
      .rejects = {{"no_such_padding",
                   {indices({2}, 1), {.shape = {3, 4}}},
                   padding(3),
                   "padding_idx that is a row"},
                  {"max_norm_below_0",
                   {indices({2}, 1), {.shape = {3, 4}}},
                   shortened(-1.0, 2.0),
                   "a max_norm of at least 0"},
                  {"norm_type_of_0",
                   {indices({2}, 1), {.shape = {3, 4}}},
                   shortened(1.0, 0.0),
                   "a norm_type above 0"},
                  {"weight", {indices({2}, 1), {.shape = {3}}}, none, "of 2 dimensions"},
                  {"indices_of_f32", {{.shape = {2}}, {.shape = {3, 4}}}, none, "must be i32"}},
  };
}

THIMBLE_OP_CASES(embedding_renorm) {
  const auto of = [](int64_t rows, int64_t width, const Shape& places, double norm, double p) {
    return OpCase{.inputs = {{.shape = {rows, width}, .state = true},
                             {.shape = places,
                              .dtype = DType::i32,
                              .low = -1,
                              .high = static_cast<double>(rows)}},
                  .attrs = attrs_of("embedding_renorm",
                                    fmt::format(R"({{"max_norm": {}, "norm_type": {}}})", norm, p)),
                  .expect = {{rows, width}}};
  };
  OpCases table{
      .cases = {of(9, 6, {3, 4}, 1.0, 2.0), of(9, 6, {20}, 1.5, 1.0), of(3, 2, {0}, 1.0, 2.0)},
      .rejects = {{"norm_type_of_0", of(3, 2, {2}, 1.0, 0.0).inputs, of(3, 2, {2}, 1.0, 0.0).attrs,
                   "a norm_type above 0"}}};
  const char* const names[] = {"plain", "type_1", "nothing"};
  for (size_t i = 0; i < table.cases.size(); ++i) table.cases[i].name = names[i];
  return table;
}

TEST(embedding, is_nan_for_an_index_that_does_not_exist) {
  const Tensor index = tensor<int32_t>(DType::i32, {3}, {-1, 1, 2});
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    const auto y = values_of<float>(run_op("embedding", ir::Attrs::of(EmbeddingAttrs{}),
                                           {index, tensor({2, 1}, {1, 2})}, kernel)[0]);
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[2]));
    EXPECT_EQ(y[1], 2.0F);
  }
}

TEST(embedding, layer_makes_its_table) {
  Graph g;
  const Value tokens = g.input("tokens", {6}, DType::i32);
  const Value y = embedding(tokens, {.embeddings = 10, .width = 4, .name = "token"});
  EXPECT_EQ(y.shape(), (Shape{kBatch, 6, 4}));
  EXPECT_EQ(g.ir().find_source("token.weight").shape(), (Shape{10, 4}));
  embedding(tokens, {.embeddings = 10, .width = 4, .padding_idx = 3, .name = "padded"});
  EXPECT_EQ(g.ir().data(g.ir().find_source("padded.weight").id()).init->zero_row, 3);
  EXPECT_THROW(embedding(tokens, EmbeddingOptions{.embeddings = 10}), Error);
}

}  // namespace thimble::test::embedding_test

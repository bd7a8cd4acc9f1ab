#include <gtest/gtest.h>
#include <thimble/error.h>

#include <cmath>
#include <limits>

#include "io/json/attrs.h"

namespace thimble::io::json_attrs_test {

struct Everything {
  bool flag = false;
  int64_t count = 3;
  double scale = 0.5;
  Pair stride;
  Padding padding;
  std::vector<int64_t> axes;
  Shape shape;
  DType dtype = DType::f32;
  Reduction reduction = Reduction::mean;
};

inline void describe(Everything& a, ir::FieldVisitor& v) {
  v.field("flag", a.flag, "");
  v.field("count", a.count, "");
  v.field("scale", a.scale, "");
  v.field("stride", a.stride, "");
  v.field("padding", a.padding, "");
  v.field("axes", a.axes, "");
  v.field("shape", a.shape, "");
  v.field("dtype", a.dtype, "");
  v.field("reduction", a.reduction, "");
}

namespace {

using nlohmann::json;

Everything read(const char* text) {
  return attrs_from_json(ir::Attrs::schema_of<Everything>(), json::parse(text), "test")
      .as<Everything>();
}

TEST(json_attrs, brings_every_kind_of_field_back) {
  const Everything all{.flag = true,
                       .count = -7,
                       .scale = 0.1,
                       .stride = {2, 3},
                       .padding = {1, 2, 3, 4},
                       .axes = {0, -1},
                       .shape = {-1, 5},
                       .dtype = DType::boolean,
                       .reduction = Reduction::batch_mean};
  const ir::Attrs attrs = ir::Attrs::of(all);
  const std::string text = attrs_to_json(attrs).dump();
  EXPECT_EQ(attrs_from_json(attrs.schema(), json::parse(text), "test").full_text(),
            attrs.full_text());
}

TEST(json_attrs, brings_back_numbers_that_are_not_finite) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double scale : {infinity, -infinity, std::nan("")}) {
    Everything all;
    all.scale = scale;
    const std::string text = attrs_to_json(ir::Attrs::of(all)).dump();
    const double back = read(text.c_str()).scale;
    EXPECT_TRUE(back == scale || (std::isnan(back) && std::isnan(scale))) << text;
  }
}

TEST(json_attrs, keeps_the_defaults_of_fields_left_out) {
  const Everything a = read("{}");
  EXPECT_EQ(a.count, 3);
  EXPECT_EQ(a.scale, 0.5);
}

TEST(json_attrs, takes_one_number_for_pairs_and_padding) {
  const Everything a = read(R"({"stride": 2, "padding": 1})");
  EXPECT_EQ(a.stride, Pair(2));
  EXPECT_EQ(a.padding, Padding(1));
  EXPECT_TRUE(read(R"({"padding": "same"})").padding.automatic);
}

TEST(json_attrs, names_the_field_that_is_wrong) {
  const std::pair<const char*, const char*> cases[] = {
      {R"([1])", "must be an object"},
      {R"({"flga": true})", "no attribute \"flga\"; known: axes, count"},
      {R"({"flag": 1})", "flag must be true or false, got 1"},
      {R"({"count": 1.5})", "count must be a whole number, got 1.5"},
      {R"({"count": 18446744073709551615})", "count must be a whole number"},
      {R"({"count": 2147483648})", "from -2147483647 to 2147483647, got 2147483648"},
      {R"({"axes": [-2147483648]})", "from -2147483647 to 2147483647, got -2147483648"},
      {R"({"shape": ["2147483648N"]})", "shape must be a whole number"},
      {R"({"count": "3"})", "count must be a whole number"},
      {R"({"scale": "big"})", "scale must be a number"},
      {R"({"scale": null})", "scale must be a number"},
      {R"({"stride": [1, 2, 3]})", "stride must be one number or [h, w]"},
      {R"({"padding": [1, 2]})", "padding must be one number, [top"},
      {R"({"axes": 3})", "axes must be a list"},
      {R"({"shape": [1, "2"]})", "shape must be a whole number"},
      {R"({"dtype": "f33"})", "dtype must be an element type"},
      {R"({"reduction": "max"})", "one of \"mean\", \"sum\", \"batch_mean\""},
  };
  for (const auto& [text, message] : cases) {
    try {
      read(text);
      ADD_FAILURE() << "accepted " << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  }
}

TEST(json_attrs, takes_nothing_but_an_empty_object_for_an_op_without_attributes) {
  EXPECT_FALSE(attrs_from_json(nullptr, json::object(), "test"));
  EXPECT_THROW(attrs_from_json(nullptr, json{{"a", 1}}, "test"), Error);
}

}  // namespace
}  // namespace thimble::io::json_attrs_test

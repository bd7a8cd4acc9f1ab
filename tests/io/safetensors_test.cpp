#include "io/safetensors/safetensors.h"

#include <gtest/gtest.h>
#include <thimble/array.h>
#include <thimble/error.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>
#include <tuple>

#include "harness/error_of.h"
#include "io/atomic_file.h"
#include "io/temporary_folder.h"

namespace thimble::io::safetensors_test {
namespace {

using test::error_of;

std::string with_length(const std::string& header, const std::string& data = "") {
  std::string file;
  for (int shift = 0; shift < 64; shift += 8) {
    file += static_cast<char>(static_cast<uint64_t>(header.size()) >> shift & 0xFF);
  }
  return file + header + data;
}

// The file that Python's safetensors 0.5 writes for {"w": float32 [[1, 2]], "n": int32 [7]}.
const std::string& python_file() {
  static const std::string file =
      with_length(R"({"n":{"dtype":"I32","shape":[1],"data_offsets":[0,4]},)"
                  R"("w":{"dtype":"F32","shape":[1,2],"data_offsets":[4,12]}}      )",
                  std::string("\x07\x00\x00\x00\x00\x00\x80\x3f\x00\x00\x00\x40", 12));
  return file;
}

TEST(safetensors, reads_what_python_writes) {
  const Safetensors file = Safetensors::parse("f", python_file());
  ASSERT_NE(file.find("w"), nullptr);
  EXPECT_EQ(file.find("w")->shape, (Shape{1, 2}));
  float values[2];
  std::memcpy(values, file.find("w")->bytes.data(), sizeof values);
  EXPECT_EQ(values[0], 1.0F);
  EXPECT_EQ(values[1], 2.0F);
  EXPECT_EQ(file.find("n")->dtype, DType::i32);
  EXPECT_EQ(file.find("missing"), nullptr);
}

TEST(safetensors, gives_back_what_it_wrote) {
  const test::TemporaryFolder folder;
  const std::vector<float> values{1.5F, -2.0F, 3.25F};
  const TensorView tensors[] = {{"a", DType::f32, {3}, std::as_bytes(std::span(values))},
                                {"empty", DType::f32, {0, 4}, {}}};
  write_safetensors(folder / "t", tensors, {{"step", "12"}});
  const Safetensors file = Safetensors::read(folder / "t");
  EXPECT_EQ(file.meta("step"), "12");
  ASSERT_EQ(file.tensors().size(), 2U);
  EXPECT_TRUE(std::ranges::equal(file.find("a")->bytes, std::as_bytes(std::span(values))));
  EXPECT_EQ(file.find("empty")->shape, (Shape{0, 4}));
}

TEST(safetensors, holds_what_is_wanted_alone) {
  const test::TemporaryFolder folder;
  const std::vector<float> large(1000, 1.0F);
  const std::vector<float> values{1.5F, -2.0F, 3.25F};
  const TensorView tensors[] = {{"a", DType::f32, {1000}, std::as_bytes(std::span(large))},
                                {"b", DType::f32, {3}, std::as_bytes(std::span(values))},
                                {"c", DType::f32, {1000}, std::as_bytes(std::span(large))}};
  write_safetensors(folder / "t", tensors, {{"step", "12"}});
  const auto wanted = [](std::string_view name) { return name == "b" || name == "d"; };
  const Safetensors file = Safetensors::read(folder / "t", wanted);
  ASSERT_EQ(file.tensors().size(), 1U);
  EXPECT_TRUE(std::ranges::equal(file.find("b")->bytes, std::as_bytes(std::span(values))));
  EXPECT_EQ(file.find("a"), nullptr);
  EXPECT_EQ(file.meta("step"), "12");
  // Entries that are not read are checked, too.
  std::filesystem::resize_file(folder / "t", std::filesystem::file_size(folder / "t") - 1);
  EXPECT_NE(error_of([&] {
              static_cast<void>(Safetensors::read(folder / "t", wanted));
            }).find("tensor c"),
            std::string::npos);
}

TEST(safetensors, opened_leaves_the_bytes_in_the_file) {
  const test::TemporaryFolder folder;
  const std::vector<float> first{9.0F, 8.0F};
  const std::vector<float> values{1.5F, -2.0F, 3.25F};
  const TensorView tensors[] = {{"a", DType::f32, {2}, std::as_bytes(std::span(first))},
                                {"b", DType::f32, {3}, std::as_bytes(std::span(values))}};
  write_safetensors(folder / "t", tensors, {{"step", "12"}});
  const Safetensors file = Safetensors::open(folder / "t");
  ASSERT_EQ(file.tensors().size(), 2U);
  EXPECT_TRUE(file.find("b")->bytes.empty());
  EXPECT_EQ(file.meta("step"), "12");
  float part[2];
  file.load(*file.find("b"), sizeof(float), std::as_writable_bytes(std::span(part)));
  EXPECT_EQ(part[0], -2.0F);
  EXPECT_EQ(part[1], 3.25F);
  std::filesystem::resize_file(folder / "t", std::filesystem::file_size(folder / "t") - 1);
  EXPECT_NE(error_of([&] {
              file.load(*file.find("b"), sizeof(float), std::as_writable_bytes(std::span(part)));
            }).find("tensor b"),
            std::string::npos);
  file.load(*file.find("a"), 0, std::as_writable_bytes(std::span(part)));
  EXPECT_EQ(part[0], 9.0F);
}

TEST(safetensors, refuses_a_file_cut_off_anywhere) {
  for (size_t length = 0; length < python_file().size(); ++length) {
    EXPECT_NE(error_of([&] {
                static_cast<void>(Safetensors::parse("f", python_file().substr(0, length)));
              }),
              "no error")
        << length;
  }
}

TEST(safetensors, names_what_is_wrong_in_a_hostile_header) {
  const struct {
    std::string header;
    const char* error;
  } cases[] = {
      {"[]", "not a JSON object"},
      {"{", "not JSON: it breaks off or goes wrong at byte 10"},
      {R"({"a":1e999})", "out of range"},
      {std::string(100000, '['), "nested too deeply"},
      {R"({"a":1})", "field dtype is missing"},
      {R"({"a":{"dtype":"F99","shape":[1],"data_offsets":[0,4]}})", "dtype"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})", "outside"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", "outside"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "takes 8 bytes"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "whole number"},
      {R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}})", "large"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
       R"("b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
       "overlap"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})", "hole"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", "after the last"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
       R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
       "twice"},
      {R"({"__metadata__":{"k":1}})", "not a text"},
  };
  for (const auto& [header, error] : cases) {
    const std::string file = with_length(header, "abcd");
    const std::string what = error_of([&] { static_cast<void>(Safetensors::parse("f", file)); });
    EXPECT_NE(what.find(error), std::string::npos) << header.substr(0, 80) << " -> " << what;
  }
}

TEST(safetensors, holds_every_type) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "f";
  std::vector<std::vector<std::byte>> contents;
  std::vector<TensorView> tensors;
  const Shape shape{3};
  for (const DType dtype : kDTypes) {
    if (file_dtype(dtype) != dtype) continue;
    contents.emplace_back(static_cast<size_t>(file_bytes(dtype, shape)));
    for (size_t i = 0; i < contents.back().size(); ++i) {
      contents.back()[i] = static_cast<std::byte>(dtype == DType::boolean ? i % 2 : 17 * i);
    }
    tensors.push_back({.name = to_string(dtype), .dtype = dtype, .shape = shape, .bytes = {}});
  }
  for (size_t i = 0; i < tensors.size(); ++i) tensors[i].bytes = contents[i];
  write_safetensors(path, tensors, {});
  const Safetensors file = Safetensors::read(path);
  ASSERT_EQ(file.tensors().size(), std::size(kDTypes) - 1);
  for (const TensorView& tensor : tensors) {
    const TensorView* const back = file.find(tensor.name);
    ASSERT_NE(back, nullptr) << tensor.name;
    EXPECT_EQ(back->dtype, tensor.dtype);
    EXPECT_TRUE(std::equal(back->bytes.begin(), back->bytes.end(), tensor.bytes.begin(),
                           tensor.bytes.end()))
        << tensor.name;
  }
  const std::string raw =
      with_length(R"({"n":{"dtype":"F64","shape":[2],"data_offsets":[0,8]}})", "12345678");
  EXPECT_NE(error_of([&] { std::ignore = Safetensors::parse("f", raw); }).find("takes 16 bytes"),
            std::string::npos);
}

TEST(safetensors, holds_packed_types_a_byte_an_element) {
  for (const DType dtype : {DType::i4, DType::boolean}) {
    const Shape shape{5};
    const Array values = Array(std::vector<int8_t>{1, 0, 1, 1, 0}).cast(dtype);
    const std::vector<std::byte> bytes = unpacked(dtype, shape, values.bytes());
    EXPECT_EQ(bytes.size(), 5U);
    const auto again = packed("f", dtype, shape, bytes);
    EXPECT_TRUE(std::equal(again.begin(), again.end(), values.bytes().begin()));
    std::vector<std::byte> wrong = bytes;
    wrong[3] = std::byte{9};
    EXPECT_NE(error_of([&] { std::ignore = packed("f", dtype, shape, wrong); }).find("element 3"),
              std::string::npos);
  }
  const TensorView nibbles{.name = "n", .dtype = DType::i4, .shape = {0}, .bytes = {}};
  EXPECT_NE(error_of([&] {
              write_safetensors("f", {&nibbles, 1}, {});
            }).find("write it as i8"),
            std::string::npos);
}

TEST(safetensors, refuses_to_write_names_that_no_file_can_hold_and_keeps_the_file) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "t";
  write_safetensors(path, {}, {{"kept", "yes"}});
  for (const std::string& name :
       {std::string(), std::string("__metadata__"), std::string("\xff"), std::string("a\0b", 3)}) {
    const TensorView tensor{name, DType::f32, {0}, {}};
    EXPECT_NE(error_of([&] {
                write_safetensors(path, {&tensor, 1}, {});
              }).find("so that no file could hold it"),
              std::string::npos);
    EXPECT_EQ(Safetensors::read(path).meta("kept"), "yes");
  }
}

TEST(safetensors, has_as_many_dimensions_as_tensors_can_have) {
  const test::TemporaryFolder folder;
  const auto written = [&](size_t rank) {
    const TensorView tensor{"a", DType::u8, Shape(std::vector<int64_t>(rank, 0)), {}};
    write_safetensors(folder / "t", {&tensor, 1}, {});
    return Safetensors::read(folder / "t").tensors()[0].shape.rank();
  };
  EXPECT_EQ(written(16), 16);
  EXPECT_NE(error_of([&] { written(17); }).find("has 17 dimensions"), std::string::npos);
}

TEST(safetensors, refuses_to_write_a_name_twice) {
  const test::TemporaryFolder folder;
  const TensorView tensors[] = {{"a", DType::f32, {0}, {}}, {"a", DType::f32, {0}, {}}};
  EXPECT_THROW(write_safetensors(folder / "t", tensors, {}), Error);
}

}  // namespace
}  // namespace thimble::io::safetensors_test

// What the reader of TensorFlow Lite and circle files does with parts that their converters write
// for large models and for new operators: every file is built here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <span>
#include <vector>

#include "harness/error_of.h"
#include "import/tflite/file.h"
#include "io/temporary_folder.h"
#include "tflite_generated.h"

namespace thimble::test::tflite_file_test {
namespace {

namespace fb = flatbuffers;
using testing::HasSubstr;

constexpr fb::voffset_t kSlot10 = 4 + 2 * 10;
constexpr int kRelu = 19;
constexpr std::array<float, 2> kWeights = {1.5F, -2.0F};
constexpr uint64_t kWeightBytes = sizeof(kWeights);

// A file of two tensors: f32 [2] of `buffer`, and the result of one operator of it.
struct Built {
  bool is_circle = false;
  uint64_t offset = 0;  // of buffer 1, which holds the weights itself where both are 0
  uint64_t size = 0;
  uint32_t slot10 = 0;  // of tensor 0: an external buffer, of circle a byte for its compression
  std::vector<uint32_t> external_ids;
  std::string external_name = "weights.bin";
  uint64_t external_offset = 0;
  uint64_t external_length = kWeightBytes;
  uint32_t external_group = 0;
  std::string packing;
  int8_t deprecated_code = kRelu;
  int32_t code = kRelu;
  std::string custom;

  [[nodiscard]] std::vector<char> bytes() const {
    fb::FlatBufferBuilder fbb;
    const auto name = fbb.CreateString("w");
    const auto shape = fbb.CreateVector(std::vector<int32_t>{2});
    tflite::TensorBuilder tensor(fbb);
    tensor.add_shape(shape);
    tensor.add_name(name);
    tensor.add_buffer(1);
    if (is_circle) {
      tensor.fbb_.AddElement<uint8_t>(kSlot10, static_cast<uint8_t>(slot10), 0);
    } else {
      tensor.fbb_.AddElement<uint32_t>(kSlot10, slot10, 0);
    }
    const auto first = tensor.Finish();
    const auto second = tflite::CreateTensor(fbb, shape, 0, 0, fbb.CreateString("y"));
    const auto operation = tflite::CreateOperator(fbb, 0, fbb.CreateVector(std::vector<int32_t>{0}),
                                                  fbb.CreateVector(std::vector<int32_t>{1}));
    const auto code_table = tflite::CreateOperatorCode(
        fbb, deprecated_code, custom.empty() ? 0 : fbb.CreateString(custom), 1, code);
    const auto graph = tflite::CreateSubGraph(fbb, fbb.CreateVector(std::vector{first, second}), 0,
                                              fbb.CreateVector(std::vector<int32_t>{1}),
                                              fbb.CreateVector(std::vector{operation}));
    fb::Offset<fb::Vector<uint8_t>> data = 0;
    if (offset == 0 && size == 0) {
      data = fbb.CreateVector(reinterpret_cast<const uint8_t*>(kWeights.data()), kWeightBytes);
    }
    const std::vector buffers{tflite::CreateBuffer(fbb),
                              tflite::CreateBuffer(fbb, data, offset, size)};
    std::vector<fb::Offset<tflite::ExternalBuffer>> external;
    const auto packed = packing.empty() ? 0 : fbb.CreateString(packing);
    for (const uint32_t id : external_ids) {
      external.push_back(tflite::CreateExternalBuffer(fbb, id, external_group, external_offset,
                                                      external_length, packed));
    }
    const auto group = tflite::CreateExternalBufferGroup(fbb, fbb.CreateString(external_name));
    const auto model =
        tflite::CreateModel(fbb, is_circle ? 0 : 3, fbb.CreateVector(std::vector{code_table}),
                            fbb.CreateVector(std::vector{graph}), 0, fbb.CreateVector(buffers), 0,
                            0, 0, external.empty() ? 0 : fbb.CreateVector(std::vector{group}),
                            external.empty() ? 0 : fbb.CreateVector(external));
    fbb.Finish(model, is_circle ? "CIR0" : "TFL3");
    const auto* const start = reinterpret_cast<const char*>(fbb.GetBufferPointer());
    return {start, start + fbb.GetSize()};
  }
};

// The numbers of tensor 0.
std::vector<float> weights_of(const tflite::File& file) {
  const std::span<const std::byte> bytes = file.tensor(0).data;
  std::vector<float> values(bytes.size() / sizeof(float));
  std::ranges::copy(bytes, std::as_writable_bytes(std::span(values)).begin());
  return values;
}

std::vector<float> weights_of(const Built& built, const std::string& name = "m.tflite") {
  return weights_of(tflite::File::parse(name, built.bytes()));
}

std::string refusal(const Built& built, const std::string& name = "m.tflite") {
  return error_of([&] { static_cast<void>(tflite::File::parse(name, built.bytes())); });
}

int code_of(bool is_circle, int deprecated, int code) {
  const Built built{.is_circle = is_circle,
                    .external_ids = {},
                    .packing = {},
                    .deprecated_code = static_cast<int8_t>(deprecated),
                    .code = code,
                    .custom = {}};
  return tflite::File::parse("m", built.bytes()).operators().at(0).code;
}

const std::vector<float> kWanted(kWeights.begin(), kWeights.end());

TEST(tflite_file, reads_a_buffer_within_the_tables) {
  EXPECT_EQ(weights_of(Built{}), kWanted);
  Built circle;
  circle.is_circle = true;
  EXPECT_EQ(weights_of(circle), kWanted);
}

TEST(tflite_file, reads_a_buffer_behind_the_tables) {
  Built built;
  built.offset = 2;  // another number below takes as many bytes
  built.size = kWeightBytes;
  std::vector<char> bytes = built.bytes();
  built.offset = bytes.size();
  bytes = built.bytes();
  ASSERT_EQ(bytes.size(), built.offset);
  const auto* const start = reinterpret_cast<const char*>(kWeights.data());
  std::vector<char> shorter = bytes;
  bytes.insert(bytes.end(), start, start + kWeightBytes);
  EXPECT_EQ(weights_of(tflite::File::parse("m", bytes)), kWanted);
  shorter.insert(shorter.end(), start, start + kWeightBytes - 1);
  EXPECT_THAT(error_of([&] { static_cast<void>(tflite::File::parse("m", shorter)); }),
              HasSubstr("buffers[1]: 8 bytes from byte"));
}

TEST(tflite_file, refuses_a_buffer_beyond_its_end) {
  for (const uint64_t far : {uint64_t{1} << 20, UINT64_MAX, UINT64_MAX - 7}) {
    Built built;
    built.offset = far;
    built.size = kWeightBytes;
    EXPECT_THAT(refusal(built), HasSubstr("lie beyond its end")) << far;
    built.offset = 8;
    built.size = far;
    EXPECT_THAT(refusal(built), HasSubstr("lie beyond its end")) << far;
  }
  Built open;  // 1: a place that the writer has not filled in
  open.offset = 1;
  open.size = kWeightBytes;
  EXPECT_TRUE(weights_of(open).empty());
}

TEST(tflite_file, reads_an_external_buffer) {
  const TemporaryFolder folder;
  std::ofstream(folder / "weights.bin", std::ios::binary)
      << "1234" << std::string(reinterpret_cast<const char*>(kWeights.data()), kWeightBytes);
  Built built;
  built.offset = 1;
  built.slot10 = 7;
  built.external_ids = {3, 7};
  built.external_offset = 4;
  const std::string model = folder / "m.tflite";
  EXPECT_EQ(weights_of(built, model), kWanted);
  built.external_offset = 5;
  EXPECT_THAT(refusal(built, model), HasSubstr("weights.bin"));
  built.external_offset = UINT64_MAX - 3;
  EXPECT_THAT(refusal(built, model), HasSubstr("weights.bin"));
  built.external_offset = 4;
  built.external_length = 4;
  EXPECT_THAT(refusal(built, model), HasSubstr("needs 8 bytes, its buffer has 4"));
}

TEST(tflite_file, refuses_external_buffers_that_are_not_there) {
  const TemporaryFolder folder;
  const std::string model = folder / "m.tflite";
  Built built;
  built.slot10 = 7;
  EXPECT_THAT(refusal(built, model), HasSubstr("there is no external buffer 7"));
  built.external_ids = {7};
  EXPECT_THAT(refusal(built, model), HasSubstr("does not exist"));
  built.external_name = "../weights.bin";
  EXPECT_THAT(refusal(built, model), HasSubstr("model's folder"));
  built.external_group = 1;
  EXPECT_THAT(refusal(built, model), HasSubstr("there is no group 1"));
  built.packing = "zip";
  EXPECT_THAT(refusal(built, model), HasSubstr("is packed as"));
  built.external_ids = {7, 7};
  EXPECT_THAT(refusal(built, model), HasSubstr("the number 7 is there twice"));
}

TEST(tflite_file, slot_10_of_circle_is_a_compression) {
  Built built;
  built.is_circle = true;
  built.slot10 = 1;
  EXPECT_THAT(refusal(built), HasSubstr("tensors[0] is compressed"));
}

TEST(tflite_file, takes_the_operator_code_of_either_field) {
  // TensorFlow Lite: the larger one, because old files have but one byte and new ones may have
  // both.
  EXPECT_EQ(code_of(false, kRelu, 0), kRelu);
  EXPECT_EQ(code_of(false, kRelu, kRelu), kRelu);
  EXPECT_EQ(code_of(false, 0, kRelu), kRelu);
  EXPECT_EQ(code_of(false, 127, 150), 150);
  // circle: the byte, unless it is the placeholder; its own operators are below 0.
  EXPECT_EQ(code_of(true, kRelu, 0), kRelu);
  EXPECT_EQ(code_of(true, 127, 150), 150);
  EXPECT_EQ(code_of(true, -4, 0), -4);
  EXPECT_EQ(code_of(true, 127, -4), -4);
  EXPECT_THAT(error_of([] { static_cast<void>(code_of(false, 127, 127)); }),
              HasSubstr("an operator code that its writer did not know"));
}

TEST(tflite_file, reads_the_name_of_a_custom_operator) {
  Built built;
  built.deprecated_code = 32;
  built.code = 32;
  built.custom = "Mine";
  EXPECT_EQ(tflite::File::parse("m", built.bytes()).operators().at(0).custom, "Mine");
}

}  // namespace
}  // namespace thimble::test::tflite_file_test

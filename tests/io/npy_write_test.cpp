#include "io/npy/npy_write.h"

#include <gmock/gmock.h>
#include <thimble/data_open.h>
#include <thimble/error.h>

#include "data/array.h"
#include "data/npy.h"
#include "harness/error_of.h"
#include "io/atomic_file.h"
#include "io/temporary_folder.h"

namespace thimble::io::npy_write_test {
namespace {

using test::error_of;
using ::testing::HasSubstr;

constexpr size_t kLargest = 1 << 20;

template <class T>
std::vector<std::byte> bytes_of(std::vector<T> values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

TEST(npy_write, has_the_header_that_numpy_writes) {
  const test::TemporaryFolder folder;
  write_npy(folder / "a.npy", DType::f32, {2, 3}, bytes_of<float>({1, 2, 3, 4, 5, 6}));
  const std::string file = read_file(folder / "a.npy", kLargest);
  ASSERT_EQ(file.size(), 128 + 24);
  EXPECT_EQ(file.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_THAT(file, HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   "));
  EXPECT_EQ(file[127], '\n');
  write_npy(folder / "b.npy", DType::u8, {3}, bytes_of<uint8_t>({1, 2, 3}));
  EXPECT_THAT(read_file(folder / "b.npy", kLargest), HasSubstr("'|u1'"));
  EXPECT_THAT(read_file(folder / "b.npy", kLargest), HasSubstr("(3,)"));
  write_npy(folder / "c.npy", DType::i32, {}, bytes_of<int32_t>({7}));
  EXPECT_THAT(read_file(folder / "c.npy", kLargest), HasSubstr("'shape': ()"));
}

TEST(npy_write, every_type_reads_back_as_its_values) {
  struct Case {
    DType dtype;
    std::vector<std::byte> bytes;  // of three elements
    data::Element element;
    std::vector<std::byte> stored;
  };
  const auto plain = [](DType dtype, data::Element element, std::vector<std::byte> bytes) {
    return Case{dtype, bytes, element, bytes};
  };
  const Case cases[] = {
      plain(DType::f32, data::Element::f32, bytes_of<float>({0.1F, -2, 3})),
      plain(DType::f16, data::Element::f16, bytes_of<uint16_t>({0x3c00, 0xc000, 1})),
      plain(DType::i8, data::Element::i8, bytes_of<int8_t>({-128, 0, 127})),
      plain(DType::u8, data::Element::u8, bytes_of<uint8_t>({0, 1, 255})),
      plain(DType::i32, data::Element::i32, bytes_of<int32_t>({INT32_MIN, 0, 5})),
      plain(DType::u32, data::Element::u32, bytes_of<uint32_t>({UINT32_MAX, 0, 5})),
      plain(DType::f64, data::Element::f64, bytes_of<double>({0.1, -2, 3})),
      plain(DType::i64, data::Element::i64, bytes_of<int64_t>({INT64_MIN, 0, 5})),
      plain(DType::i16, data::Element::i16, bytes_of<int16_t>({-32768, 0, 5})),
      {DType::i4, bytes_of<uint8_t>({0x78, 0x0f}), data::Element::i8,
       bytes_of<int8_t>({-8, 7, -1})},
      {DType::bf16, bytes_of<uint16_t>({0x3f80, 0xc000, 0x7f80}), data::Element::f32,
       bytes_of<uint32_t>({0x3f800000, 0xc0000000, 0x7f800000})},
      {DType::boolean, bytes_of<uint8_t>({5}), data::Element::boolean,
       bytes_of<uint8_t>({1, 0, 1})},
  };
  const test::TemporaryFolder folder;
  for (const Case& c : cases) {
    SCOPED_TRACE(to_string(c.dtype));
    const std::string path = folder / "a.npy";
    write_npy(path, c.dtype, {3}, c.bytes);
    const data::StoredArray array = data::parse_npy(path, data::in_file(path));
    EXPECT_EQ(array.element, c.element);
    EXPECT_EQ(array.shape, Shape{3});
    std::vector<std::byte> stored(static_cast<size_t>(array.bytes()));
    array.storage->read(array.offset, stored);
    EXPECT_EQ(stored, c.stored);
  }
}

TEST(npy_write, takes_pieces_and_misses_none) {
  const test::TemporaryFolder folder;
  NpyWriter writer(folder / "a.npy", DType::i32, {4});
  writer.write(bytes_of<int32_t>({1, 2, 3}), 3);
  EXPECT_THAT(error_of([&] { writer.commit(); }),
              HasSubstr("1 of the 4 elements were not written"));
  EXPECT_THAT(error_of([&] {
                writer.write(bytes_of<int32_t>({4, 5}), 2);
              }),
              HasSubstr("2 elements in 8 bytes do not fit i32[4], of which 1 are missing"));
  EXPECT_THAT(error_of([&] { writer.write(bytes_of<int32_t>({4}), 2); }), HasSubstr("do not fit"));
  writer.write(bytes_of<int32_t>({4}), 1);
  writer.commit();
  EXPECT_EQ(read_file(folder / "a.npy", kLargest).size(), 128 + 16);
  EXPECT_THAT(error_of([&] { NpyWriter(folder / "none/a.npy", DType::i32, {4}); }),
              HasSubstr("none/a.npy"));
}

TEST(npy_write, refuses_more_dimensions_than_readers_take) {
  const test::TemporaryFolder folder;
  const auto write = [&](size_t rank) {
    write_npy(folder / "a.npy", DType::u8, Shape(std::vector<int64_t>(rank, 1)),
              bytes_of<uint8_t>({1}));
  };
  EXPECT_NO_THROW(write(16));
  EXPECT_THAT(error_of([&] { write(17); }), HasSubstr("has 17 dimensions; at most 16 are written"));
  EXPECT_THAT(error_of([&] { write(30000); }), HasSubstr("has 30000 dimensions"));
}

TEST(npy_write, many_bits_cross_the_parts_they_are_written_in) {
  const test::TemporaryFolder folder;
  std::vector<uint8_t> bits(1250, 0);  // 10,000 elements, set where their number divides by 3
  for (int i = 0; i < 10000; i += 3) bits[static_cast<size_t>(i / 8)] |= 1U << (i % 8);
  write_npy(folder / "a.npy", DType::boolean, {10000}, bytes_of(bits));
  const std::string file = read_file(folder / "a.npy", kLargest);
  ASSERT_EQ(file.size(), 128 + 10000);
  for (size_t i = 0; i < 10000; ++i) ASSERT_EQ(file[128 + i], i % 3 == 0 ? 1 : 0) << i;
}

}  // namespace
}  // namespace thimble::io::npy_write_test

#include "data/open/picture_scale.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "data/picture_files.h"

namespace thimble::data::picture_scale_test {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

// Pillow's figures are printed with four digits.
constexpr float kPrinted = 6e-5F;
// Decoders of JPEG may round the cosine transform and the colours in their own ways.
constexpr float kJpegRounding = 3.0F;

io::Picture decoded(const std::string& file) { return io::decode_picture("a", to_bytes(file)); }

std::vector<float> scaled(const std::string& file, int64_t height, int64_t width,
                          ImageOptions::Fit fit = ImageOptions::Fit::stretch,
                          int64_t channels = 1) {
  const io::Picture picture = decoded(file);
  std::vector<float> scratch;
  std::vector<float> image(static_cast<size_t>(height * width * channels));
  scale_picture(picture, box_of(picture.size, height, width, fit), height, width, channels, scratch,
                image.data());
  return image;
}

TEST(picture_scale, is_pillows_bilinear) {
  EXPECT_THAT(
      scaled(formula_png(), 3, 4),
      Pointwise(FloatNear(kPrinted), {61.2993, 127.5486, 126.8857, 162.415, 151.3386, 142.3733,
                                      147.9289, 139.6138, 105.7347, 125.5029, 141.5029, 130.551}));
  const std::vector<float> larger = scaled(formula_png(), 8, 9);
  EXPECT_THAT(std::vector(larger.begin() + 27, larger.begin() + 36),
              Pointwise(FloatNear(kPrinted), {153.5625, 192.8542, 160.4722, 108.5347, 154.375,
                                              137.9931, 166.0556, 153.2292, 75.1875}));
}

TEST(picture_scale, crop_takes_the_middle) {
  EXPECT_THAT(scaled(formula_png(), 2, 2, ImageOptions::Fit::crop),
              Pointwise(FloatNear(kPrinted), {127.8, 137.7636, 132.1418, 141.4218}));
  EXPECT_THAT(scaled(formula_png(), 2, 4, ImageOptions::Fit::crop),
              Pointwise(FloatNear(kPrinted), {121.6019, 147.0992, 130.8304, 135.4381, 114.8133,
                                              139.0128, 146.2768, 149.5867}));
}

TEST(picture_scale, the_same_size_keeps_every_pixel) {
  const std::vector<float> image = scaled(formula_png(), 5, 7);
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 7; ++x) {
      EXPECT_EQ(image[static_cast<size_t>(7 * y + x)],
                static_cast<float>((37 * x + 91 * y + 13 * x * y) % 256));
    }
  }
}

TEST(picture_scale, converts_channels) {
  using Fit = ImageOptions::Fit;
  const auto pixel = [](std::vector<unsigned char> colour, int64_t channels) {
    return scaled(png_of_colour(2, 2, std::move(colour)), 1, 1, Fit::stretch, channels);
  };
  EXPECT_THAT(pixel({200}, 3), ElementsAre(200, 200, 200));
  EXPECT_THAT(pixel({200}, 4), ElementsAre(200, 200, 200, 255));
  EXPECT_THAT(pixel({200, 7}, 1), ElementsAre(200));  // gray and alpha
  EXPECT_THAT(pixel({200, 7}, 4), ElementsAre(200, 200, 200, 7));
  EXPECT_THAT(pixel({100, 150, 50}, 1), Pointwise(FloatNear(1e-4F), {123.65F}));
  EXPECT_THAT(pixel({100, 150, 50}, 3), ElementsAre(100, 150, 50));
  EXPECT_THAT(pixel({100, 150, 50, 9}, 3), ElementsAre(100, 150, 50));
  EXPECT_THAT(pixel({100, 150, 50, 9}, 4), ElementsAre(100, 150, 50, 9));
}

TEST(picture, decodes_what_pillow_writes) {
  struct Case {
    const char* file;
    int64_t channels;
    std::vector<float> pixel;  // in row 3, column 4
    float tolerance;
  };
  const Case cases[] = {
      {"png_gray", 1, {40, 40, 40}, 0},
      {"png_16", 1, {40, 40, 40}, 0},
      {"png_rgb", 3, {40, 45, 42}, 0},
      {"png_alpha", 4, {40, 45, 42}, 0},
      {"png_palette", 3, {50, 53, 51}, 0},
      {"jpeg_gray", 1, {40, 40, 40}, kJpegRounding},
      {"jpeg_baseline", 3, {38, 47, 44}, kJpegRounding},
      {"jpeg_progressive", 3, {41, 45, 46}, kJpegRounding},
      {"jpeg_cmyk", 3, {97, 103, 115}, kJpegRounding},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.file);
    const std::string file = pillow_file(c.file);
    EXPECT_EQ(decoded(file).size.channels, c.channels);
    const std::vector<float> image = scaled(file, 8, 8, ImageOptions::Fit::stretch, 3);
    const auto pixel = image.begin() + 3 * (3 * 8 + 4);
    EXPECT_THAT(std::vector(pixel, pixel + 3), Pointwise(FloatNear(c.tolerance), c.pixel));
  }
}

// An APP1 segment of EXIF data that notes an orientation, in either order of bytes.
std::string exif_of(int orientation, bool little) {
  const std::string value(1, static_cast<char>(orientation));
  const std::string zero(1, '\0');
  std::string tiff =
      little ? std::string("II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0", 18) + value + zero
             : std::string("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01", 18) + zero + value;
  tiff += std::string(6, '\0');
  const std::string body = std::string("Exif\0\0", 6) + tiff;
  return "\xFF\xE1" + big<uint16_t>(static_cast<uint16_t>(body.size() + 2)) + body;
}

// Behind a JPEG file's first two bytes.
std::string with_segment(const std::string& jpeg, const std::string& segment) {
  return jpeg.substr(0, 2) + segment + jpeg.substr(2);
}

std::vector<int> pixels_of(const io::Picture& picture) {
  const int64_t count = picture.size.height * picture.size.width * picture.size.channels;
  return {picture.pixels.get(), picture.pixels.get() + count};
}

// Pillow's ImageOps.exif_transpose says where the corners of a picture of 8 x 5 pixels go.
TEST(picture, is_turned_upright) {
  const std::string turned = pillow_file("jpeg_exif");  // orientation 6
  std::string stored = turned;
  stored[stored.find("Exif") + 25] = 1;
  const io::Picture plain = decoded(stored);
  ASSERT_EQ(plain.size.height, 8);
  ASSERT_EQ(plain.size.width, 5);
  const auto at = [](const io::Picture& picture, int64_t row, int64_t column) {
    const unsigned char* const pixel =
        picture.pixels.get() + 3 * (row * picture.size.width + column);
    return std::vector<int>{pixel[0], pixel[1], pixel[2]};
  };
  const std::vector<int> a = at(plain, 0, 0);
  const std::vector<int> b = at(plain, 0, 4);
  const std::vector<int> c = at(plain, 7, 0);
  const std::vector<int> d = at(plain, 7, 4);
  // The corners above left, above right and below left, of orientations 1 to 8.
  const std::vector<std::vector<int>> corners[] = {{a, b, c}, {b, a, d}, {d, c, b}, {c, d, a},
                                                   {a, c, b}, {c, a, d}, {d, b, c}, {b, d, a}};
  std::string file = turned;
  for (int orientation = 1; orientation <= 8; ++orientation) {
    SCOPED_TRACE(orientation);
    file[file.find("Exif") + 25] = static_cast<char>(orientation);
    const io::Picture picture = decoded(file);
    EXPECT_EQ(picture.size.height, orientation < 5 ? 8 : 5);
    EXPECT_EQ(picture.size.width, orientation < 5 ? 5 : 8);
    const auto& wanted = corners[orientation - 1];
    EXPECT_EQ(at(picture, 0, 0), wanted[0]);
    EXPECT_EQ(at(picture, 0, picture.size.width - 1), wanted[1]);
    EXPECT_EQ(at(picture, picture.size.height - 1, 0), wanted[2]);
    std::vector<int> all = pixels_of(picture);
    std::vector<int> same = pixels_of(plain);
    std::sort(all.begin(), all.end());
    std::sort(same.begin(), same.end());
    EXPECT_EQ(all, same);
  }
}

TEST(picture, takes_the_orientation_in_either_order_of_bytes_and_none_that_is_damaged) {
  const std::string plain = pillow_file("jpeg_baseline");
  const std::vector<int> upright = pixels_of(decoded(plain));
  const std::vector<int> turned = pixels_of(decoded(with_segment(plain, exif_of(3, true))));
  EXPECT_NE(turned, upright);
  EXPECT_EQ(pixels_of(decoded(with_segment(plain, exif_of(3, false)))), turned);
  for (const int wrong : {0, 9, 200}) {
    EXPECT_EQ(pixels_of(decoded(with_segment(plain, exif_of(wrong, true)))), upright);
  }
  const std::string exif = exif_of(3, true);
  for (size_t size = 4; size < exif.size(); ++size) {
    std::string cut = exif.substr(0, size);
    cut.replace(2, 2, big<uint16_t>(static_cast<uint16_t>(size - 2)));
    const std::vector<int> pixels = pixels_of(decoded(with_segment(plain, cut)));
    EXPECT_TRUE(pixels == upright || pixels == turned) << size;
  }
  // XMP stands in such a segment, too.
  const std::string xmp = "\xFF\xE1" + big<uint16_t>(6) + "http";
  EXPECT_EQ(pixels_of(decoded(with_segment(with_segment(plain, exif), xmp))), turned);
}

TEST(picture, refuses_what_is_none) {
  const auto error = [](const std::string& file) { return error_of([&] { (void)decoded(file); }); };
  EXPECT_THAT(error("GIF89a and more of it"), HasSubstr("[a] is no PNG or JPEG file; convert"));
  EXPECT_THAT(error(""), HasSubstr("is no PNG or JPEG file"));
  for (const std::string& whole : {formula_png(), pillow_file("jpeg_gray")}) {
    for (size_t size = 0; size < whole.size(); ++size) {
      const std::string message =
          error(whole.substr(0, size));  // an image, or an error of one line
      EXPECT_EQ(message.find('\n'), std::string::npos);
    }
    EXPECT_THAT(error(whole.substr(0, 40)), HasSubstr("[a]"));
  }
  std::string large = formula_png();
  large.replace(16, 8, big<uint32_t>(16000) + big<uint32_t>(16000));  // width and height
  EXPECT_THAT(error(large), HasSubstr("is a picture of 16000x16000 pixels; up to 67108864 pixels"));
}

}  // namespace
}  // namespace thimble::data::picture_scale_test

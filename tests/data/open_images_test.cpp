// data::open for folders of images.
#include <gmock/gmock.h>
#include <thimble/data_loader.h>
#include <thimble/data_open.h>

#include "data/picture_files.h"

namespace thimble::data::open_images_test {
namespace {

using namespace testing;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

const Field kImage{"image", {2, 2, 1}};
const Field kColour{"image", {2, 2, 3}};
const Field kClass{"kind", {}, DType::i32, true};
constexpr float kRounding = 1e-6F;  // of a division by 255

std::string gray_png(unsigned char value) { return png_of_colour(4, 4, {value}); }

// {label, the value of every pixel in 0..255}, sample after sample.
std::vector<std::pair<int32_t, int>> contents(const Dataset& set) {
  std::vector<std::pair<int32_t, int>> found;
  for (int64_t i = 0; i < set.size(); ++i) {
    const Sample sample = sample_of(set, i);
    EXPECT_THAT(sample.features, Each(FloatNear(sample.features[0], kRounding)));
    found.emplace_back(sample.label, static_cast<int>(std::lround(255 * sample.features[0])));
  }
  return found;
}

std::string open_error(const std::string& path, const std::vector<Field>& wanted,
                       const OpenOptions& options = {}) {
  return error_of([&] { (void)open(path, wanted, options); });
}

TEST(open, numbers_class_folders_by_name) {
  const ScratchFolder folder;
  folder.write("set/cat/b.png", gray_png(20));
  folder.write("set/cat/a.PNG", gray_png(10));
  folder.write("set/dog/1.png", gray_png(30));
  folder.write("set/Cow/1.png", gray_png(40));  // capitals sort before small letters, everywhere
  folder.write("set/.hidden/1.png", "no picture");
  folder.write("set/cat/.DS_Store", "no picture");
  folder.write("set/_notes/1.png", "no picture");
  folder.write("set/README.md", "beside the classes");
  EXPECT_THAT(contents(open(folder.path("set"), {kImage, kClass})),
              ElementsAre(std::pair(0, 40), std::pair(1, 10), std::pair(1, 20), std::pair(2, 30)));
  EXPECT_EQ(open(folder.path("set"), {kImage}).size(), 4);
}

TEST(open, reads_images_of_a_part_with_the_training_parts_classes) {
  const ScratchFolder folder;
  folder.write("set/train/cat/1.png", gray_png(1));
  folder.write("set/train/cow/1.png", gray_png(2));
  folder.write("set/train/dog/1.png", gray_png(3));
  folder.write("set/val/dog/1.png", gray_png(4));
  const std::vector<Field> wanted = {kImage, kClass};
  EXPECT_EQ(open(folder.path("set"), wanted, {.split = Split::train}).size(), 3);
  EXPECT_THAT(contents(open(folder.path("set"), wanted, {.split = Split::test})),
              ElementsAre(std::pair(2, 4)));
  folder.write("set/val/eel/1.png", gray_png(4));
  EXPECT_THAT(open_error(folder.path("set"), wanted, {.split = Split::test}),
              HasSubstr("val] has the class \"eel\", which the training part does not have"));
}

TEST(open, takes_labels_from_a_table) {
  const ScratchFolder folder;
  folder.write("set/b.png", gray_png(20));
  folder.write("set/a.png", gray_png(10));
  folder.write("set/more/c.png", gray_png(30));
  const std::string labels = "set/labels.csv";
  folder.write(labels, "file,label\nb.png,7\na.png,5\nmore/c.png,0\n");
  EXPECT_THAT(contents(open(folder.path("set"), {kImage, kClass})),
              ElementsAre(std::pair(5, 10), std::pair(7, 20), std::pair(0, 30)));
  folder.write(labels, "b.png,zebra\na.png,ant\nmore/c.png,zebra\n");
  EXPECT_THAT(contents(open(folder.path("set"), {kImage, kClass})),
              ElementsAre(std::pair(0, 10), std::pair(1, 20), std::pair(1, 30)));
  folder.write(labels, "b.png,0.5\na.png,-2\nmore/c.png,1e3\n");
  const Dataset targets = open(folder.path("set"), {kImage, {"size", {}, DType::f32, true}});
  float pixels[4];
  float target = 0;
  void* const out[] = {pixels, &target};
  targets.read(1, out);
  EXPECT_EQ(target, 0.5F);

  struct Case {
    std::string table;
    std::string message;
  };
  const Case cases[] = {
      {"a.png,1\n", "labels.csv] has no line for \"b.png\""},
      {"a.png,1\nb.png,2\nd.png,3\n", "line 3, column 1: names \"d.png\", which is not in"},
      {"a.png,1\nb.png,2\na.png,3\n", "names \"a.png\" twice"},
      {"a.png\n", "expected two columns, file and label, got 1"},
      {"a.png,1\n../b.png,2\n", "a file must stand in the folder"},
      {"a.png,1\n/b.png,2\n", "a file must stand in the folder"},
      {"", "names no file"},
  };
  for (const Case& c : cases) {
    folder.write(labels, c.table);
    EXPECT_THAT(open_error(folder.path("set"), {kImage, kClass}), HasSubstr(c.message));
  }
}

TEST(open, scales_and_normalises_images) {
  const ScratchFolder folder;
  folder.write("set/a/1.png", png_of_colour(3, 9, {255, 51, 0}));
  OpenOptions options;
  options.image.mean = {0.5, 0.1, 0};
  options.image.deviation = {0.25};
  const Dataset set = open(folder.path("set"), {kColour, kClass}, options);
  const std::vector<float> pixels = sample_of(set, 0).features;
  for (size_t i = 0; i < pixels.size(); i += 3) {
    EXPECT_NEAR(pixels[i], (1 - 0.5) / 0.25, 1e-6);
    EXPECT_NEAR(pixels[i + 1], (0.2 - 0.1) / 0.25, 1e-6);
    EXPECT_NEAR(pixels[i + 2], 0, 1e-6);
  }
  const Dataset bytes = open(folder.path("set"), {{"image", {2, 2, 3}, DType::u8}});
  std::vector<uint8_t> raw(12);
  void* const out[] = {raw.data()};
  bytes.read(0, out);
  EXPECT_THAT(std::vector(raw.begin(), raw.begin() + 3), ElementsAre(255, 51, 0));
}

TEST(open, counts_what_decoding_takes) {
  const ScratchFolder folder;
  const std::string large = png_of_colour(100, 200, {1, 2, 3});
  folder.write("set/a/1.png", large);
  folder.write("set/a/2.png", gray_png(1));
  const int64_t bytes = open(folder.path("set"), {kImage, kClass}).bytes();
  const auto decoding = static_cast<int64_t>(large.size()) + 4 * 100 * 200 * 3;
  EXPECT_GE(bytes, decoding);
  EXPECT_LE(bytes, decoding + 1000);
}

TEST(open, images_pass_through_a_loader) {
  const ScratchFolder folder;
  for (int i = 0; i < 10; ++i) {
    folder.write("set/a/" + std::to_string(i) + ".png", gray_png(static_cast<unsigned char>(i)));
  }
  Loader loader(open(folder.path("set"), {kImage, kClass}), {.batch = 4, .shuffle = false});
  loader.start(0);
  int value = 0;
  while (const Batch* const batch = loader.next()) {
    const auto* const pixels = static_cast<const float*>(batch->fields[0]);
    for (int64_t i = 0; i < batch->count; ++i) EXPECT_NEAR(255 * pixels[4 * i], value++, 1e-4);
  }
  EXPECT_EQ(value, 10);
  std::filesystem::remove(folder.path("set/a/5.png"));
  loader.start(1);
  EXPECT_THAT(error_of([&] {
                while (loader.next() != nullptr) {
                }
              }),
              HasSubstr("a/5.png] no such file"));
}

TEST(open, names_the_image_that_is_wrong) {
  const ScratchFolder folder;
  folder.write("set/a/1.png", gray_png(1));
  struct Case {
    std::string file;
    std::string bytes;
    std::string message;
  };
  const Case cases[] = {
      {"set/a/2.png", "GIF89a, not a PNG at all", "a/2.png] is no PNG or JPEG file"},
      {"set/a/2.gif", "GIF89a", "a/2.gif] is of another kind than the files .png .jpg .jpeg"},
      {"set/b/.keep", "", "set/b] is a class without files"},
      {"set/a/more/1.png", gray_png(1), "set/a] holds folders; a class holds files alone"},
  };
  for (const Case& c : cases) {
    folder.write(c.file, c.bytes);
    EXPECT_THAT(open_error(folder.path("set"), {kImage, kClass}), HasSubstr(c.message));
    const std::filesystem::path written(folder.path(c.file));
    std::filesystem::remove(written);
    if (c.file != "set/a/2.png" && c.file != "set/a/2.gif") {
      std::filesystem::remove_all(written.parent_path());
    }
  }
  // Damage behind the header is found when the image is read.
  folder.write("set/a/2.png", pillow_file("png_long_chunk"));  // it claims 457 MB in 119 bytes
  const Dataset cut = open(folder.path("set"), {kImage, kClass});
  EXPECT_THAT(error_of([&] { (void)sample_of(cut, 1); }),
              HasSubstr("a/2.png] is a damaged PNG file"));
}

TEST(open, finds_every_damaged_byte_of_a_png) {
  const ScratchFolder folder;
  const std::string whole = formula_png();
  const auto read = [&](const std::string& png) {
    folder.write("set/a/1.png", png);
    (void)sample_of(open(folder.path("set"), {kImage, kClass}), 0);
  };
  read(whole);
  read(whole + "what follows a picture is not part of it");
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    EXPECT_THAT(error_of([&] { read(damaged); }), HasSubstr("a/1.png] ")) << at;
    EXPECT_THAT(error_of([&] { read(whole.substr(0, at)); }), HasSubstr("a/1.png] ")) << at;
  }
}

TEST(open, says_which_models_take_images) {
  const ScratchFolder folder;
  folder.write("set/1.png", gray_png(1));
  const std::string path = folder.path("set");
  const Field other{"other", {2}};
  OpenOptions mean;
  mean.image.mean = {1, 2};
  OpenOptions deviation;
  deviation.image.deviation = {0};
  EXPECT_EQ(open(path, {kImage}).size(), 1);
  EXPECT_THAT(open_error(path, {kImage, kClass}),
              HasSubstr("its files have no labels for \"kind\": put those of each class"));
  EXPECT_THAT(open_error(path, {kImage, other}),
              HasSubstr("the model has \"image\" and \"other\""));
  EXPECT_THAT(open_error(path, {other}),
              HasSubstr("[height, width, 1, 3 or 4]; \"other\" is f32[2]"));
  EXPECT_THAT(open_error(path, {{"a", {2, 2, 2}}}), HasSubstr("\"a\" is f32[2, 2, 2]"));
  EXPECT_THAT(open_error(path, {kColour}, mean), HasSubstr("mean has 2 numbers; expected one, or"));
  EXPECT_THAT(open_error(path, {kColour}, deviation), HasSubstr("must be finite and above 0"));
  folder.write("set/more/1.png", gray_png(1));
  EXPECT_THAT(open_error(path, {kImage}), HasSubstr("holds files .png .jpg .jpeg and the folder"));
}

}  // namespace
}  // namespace thimble::data::open_images_test

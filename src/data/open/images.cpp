// Data sets of image files.
#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "data/file.h"
#include "data/open/media_files.h"
#include "data/open/picture_scale.h"
#include "ir/element.h"

namespace thimble::data {
namespace {

constexpr std::array kImageEndings = {".png", ".jpg", ".jpeg"};
constexpr int64_t kLargestImageFile = int64_t{1} << 28;  // bytes

// Buffers that a thread keeps between images.
struct ImageScratch {
  std::vector<std::byte> file;
  std::vector<float> row;
  std::vector<float> image;
};
thread_local ImageScratch image_scratch;

class ImageSource final : public Source {
 public:
  ImageSource(MediaFiles files, const OpenRequest& request, const Field& input)
      : files_(std::move(files)),
        fields_(request.wanted.begin(), request.wanted.end()),
        input_(static_cast<size_t>(&input - request.wanted.data())),
        fit_(request.options.image.fit),
        scale_(static_cast<size_t>(input.shape[2])),
        shift_(static_cast<size_t>(input.shape[2])) {
    const ImageOptions& options = request.options.image;
    for (size_t c = 0; c < scale_.size(); ++c) {
      const double mean = options.mean.empty() ? 0.0 : options.mean[c % options.mean.size()];
      const double deviation =
          options.deviation.empty() ? 1.0 : options.deviation[c % options.deviation.size()];
      scale_[c] = static_cast<float>(1.0 / (255.0 * deviation));
      shift_[c] = static_cast<float>(-mean / deviation);
    }
    for (int64_t i = 0; i < size(); ++i) look_at(files_.paths.path(i));
  }

  int64_t size() const override { return files_.paths.size(); }
  const std::vector<Field>& fields() const override { return fields_; }
  // The list of the files, and what the largest image takes while it is decoded.
  int64_t bytes() const override { return files_.bytes() + decoding_bytes_; }

  void read(int64_t index, std::span<void* const> out) const override {
    for (size_t f = 0; f < fields_.size(); ++f) {
      if (f == input_) {
        read_image(index, out[f]);
      } else {
        files_.write_label(fields_[f], index, out[f]);
      }
    }
  }

 private:
  // Reads a file's header: what is no picture is said before the training begins.
  void look_at(const std::string& path) {
    constexpr int64_t kTimesPixels = 4;  // decode_picture
    const StoragePtr file = in_file(path);
    if (file->size() > kLargestImageFile) {
      throw Error(path, fmt::format("has {} bytes; images of up to {} are read", file->size(),
                                    kLargestImageFile));
    }
    int64_t at = 0;
    const io::PictureSize size = io::picture_size(path, [&](std::span<std::byte> to) {
      const auto count = static_cast<size_t>(
          std::min<int64_t>(file->size() - at, static_cast<int64_t>(to.size())));
      file->read(at, to.first(count));
      at += static_cast<int64_t>(count);
      return count;
    });
    const int64_t pixels = size.height * size.width;
    decoding_bytes_ =
        std::max(decoding_bytes_, file->size() + kTimesPixels * pixels * size.channels);
  }

  void read_image(int64_t index, void* out) const {
    const std::string path = files_.paths.path(index);
    const StoragePtr file = in_file(path);
    if (file->size() > kLargestImageFile) throw Error(path, "has grown since it was looked at");
    ImageScratch& scratch = image_scratch;
    scratch.file.resize(static_cast<size_t>(file->size()));
    file->read(0, scratch.file);
    const io::Picture picture = io::decode_picture(path, scratch.file);
    const Field& field = fields_[input_];
    const PictureBox box = box_of(picture.size, field.shape[0], field.shape[1], fit_);
    scratch.image.resize(static_cast<size_t>(field.shape.elements()));
    scale_picture(picture, box, field.shape[0], field.shape[1], field.shape[2], scratch.row,
                  scratch.image.data());
    if (field.dtype == DType::u8) {
      auto* const to = static_cast<uint8_t*>(out);
      for (size_t i = 0; i < scratch.image.size(); ++i) {
        to[i] = static_cast<uint8_t>(std::clamp(scratch.image[i] + 0.5F, 0.0F, 255.0F));
      }
      return;
    }
    for (size_t i = 0; i < scratch.image.size(); ++i) {
      const size_t c = i % scale_.size();
      element_store_real(out, static_cast<int>(field.dtype), static_cast<std::ptrdiff_t>(i),
                         double{scratch.image[i] * scale_[c] + shift_[c]});
    }
  }

  MediaFiles files_;
  std::vector<Field> fields_;
  size_t input_;
  ImageOptions::Fit fit_;
  std::vector<float> scale_;  // of each channel
  std::vector<float> shift_;
  int64_t decoding_bytes_ = 0;
};

void check_image_options(const Field& input, const ImageOptions& options) {
  const auto channels = static_cast<size_t>(input.shape[2]);
  for (const auto* const values : {&options.mean, &options.deviation}) {
    const char* const name = values == &options.mean ? "mean" : "deviation";
    if (values->size() > 1 && values->size() != channels) {
      throw Error("image options",
                  fmt::format("{} has {} numbers; expected one, or one for each of "
                              "the {} channels of \"{}\"",
                              name, values->size(), channels, input.name));
    }
    for (const double value : *values) {
      if (!std::isfinite(value) || (values == &options.deviation && value <= 0)) {
        throw Error("image options",
                    fmt::format("{} is {}; it must be finite{}", name, value,
                                values == &options.deviation ? " and above 0" : ""));
      }
    }
  }
  if (input.dtype == DType::u8 && (!options.mean.empty() || !options.deviation.empty())) {
    throw Error(
        "image options",
        fmt::format("mean and deviation apply to floating-point inputs; \"{}\" is u8", input.name));
  }
}

}  // namespace

std::span<const char* const> image_endings() { return kImageEndings; }

OpenedPart open_images(const std::string& folder, const OpenRequest& request) {
  const Field& input = only_input(folder, request, "images");
  const int64_t channels = input.shape.rank() == 3 ? input.shape[2] : 0;
  if ((channels != 1 && channels != 3 && channels != 4) ||
      (!thimble::is_floating(input.dtype) && input.dtype != DType::u8)) {
    throw Error(
        folder,
        fmt::format("holds images, which feed a floating-point or u8 input [height, width, 1, 3 "
                    "or 4]; \"{}\" is {}{}",
                    input.name, to_string(input.dtype), to_string(input.shape)));
  }
  check_image_options(input, request.options.image);
  const Field* const label = only_label(folder, request, "images");
  MediaFiles files = find_media(folder, kImageEndings, label, request);
  const bool is_part = files.is_part;
  return {Dataset(std::make_shared<ImageSource>(std::move(files), request, input)), is_part};
}

}  // namespace thimble::data

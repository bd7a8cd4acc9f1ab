#include "data/open/picture_scale.h"

#include <algorithm>
#include <cmath>

namespace thimble::data {
namespace {

// The source pixels of one result pixel along an axis, and their weights, which sum to one.
struct FilterTap {
  int64_t first = 0;
  std::vector<float> weights;
};

// from: pixels of the source; begin, length: the part of it; to: pixels of the result.
std::vector<FilterTap> filter_taps(int64_t from, double begin, double length, int64_t to) {
  std::vector<FilterTap> taps(static_cast<size_t>(to));
  const double scale = length / static_cast<double>(to);
  const double support = std::max(scale, 1.0);
  for (int64_t i = 0; i < to; ++i) {
    FilterTap& tap = taps[static_cast<size_t>(i)];
    const double center = begin + (static_cast<double>(i) + 0.5) * scale;
    tap.first = std::max<int64_t>(static_cast<int64_t>(center - support + 0.5), 0);
    const int64_t end = std::min<int64_t>(static_cast<int64_t>(center + support + 0.5), from);
    double sum = 0;
    for (int64_t x = tap.first; x < end; ++x) {
      const double distance = std::abs((static_cast<double>(x) + 0.5 - center) / support);
      const double weight = std::max(1.0 - distance, 0.0);
      tap.weights.push_back(static_cast<float>(weight));
      sum += weight;
    }
    if (tap.weights.empty() || sum <= 0) {  // rounding at the picture's edge
      tap = {std::clamp<int64_t>(static_cast<int64_t>(center), 0, from - 1), {1.0F}};
      continue;
    }
    for (float& weight : tap.weights) weight = static_cast<float>(weight / sum);
  }
  return taps;
}

// One pixel with the channels that are wanted.
void convert_pixel(const unsigned char* from, int64_t stored, int64_t wanted, float* to) {
  const bool is_gray = stored <= 2;
  if (wanted == 1) {
    to[0] = is_gray ? from[0] : 0.299F * from[0] + 0.587F * from[1] + 0.114F * from[2];
    return;
  }
  for (int64_t c = 0; c < 3; ++c) to[c] = is_gray ? from[0] : from[c];
  if (wanted == 4) to[3] = stored == 2 ? from[1] : stored == 4 ? from[3] : 255.0F;
}

}  // namespace

PictureBox box_of(const io::PictureSize& size, int64_t height, int64_t width,
                  ImageOptions::Fit fit) {
  const auto rows = static_cast<double>(size.height);
  const auto columns = static_cast<double>(size.width);
  if (fit == ImageOptions::Fit::stretch) return {0, 0, rows, columns};
  const double scale =
      std::min(rows / static_cast<double>(height), columns / static_cast<double>(width));
  const double taken_rows = scale * static_cast<double>(height);
  const double taken_columns = scale * static_cast<double>(width);
  return {(rows - taken_rows) / 2, (columns - taken_columns) / 2, taken_rows, taken_columns};
}

void scale_picture(const io::Picture& picture, const PictureBox& box, int64_t height, int64_t width,
                   int64_t channels, std::vector<float>& scratch, float* to) {
  const io::PictureSize& size = picture.size;
  const auto rows = filter_taps(size.height, box.top, box.height, height);
  const auto columns = filter_taps(size.width, box.left, box.width, width);
  // The columns of the source that are read at all.
  const int64_t first = columns.front().first;
  const int64_t end = columns.back().first + static_cast<int64_t>(columns.back().weights.size());
  scratch.resize(static_cast<size_t>((end - first) * channels));
  for (const FilterTap& row : rows) {
    std::fill(scratch.begin(), scratch.end(), 0.0F);
    for (size_t y = 0; y < row.weights.size(); ++y) {
      const unsigned char* from =
          picture.pixels.get() +
          ((row.first + static_cast<int64_t>(y)) * size.width + first) * size.channels;
      for (int64_t x = 0; x < end - first; ++x, from += size.channels) {
        float pixel[4];
        convert_pixel(from, size.channels, channels, pixel);
        for (int64_t c = 0; c < channels; ++c) {
          scratch[static_cast<size_t>(x * channels + c)] += row.weights[y] * pixel[c];
        }
      }
    }
    for (const FilterTap& column : columns) {
      for (int64_t c = 0; c < channels; ++c) {
        float sum = 0;
        for (size_t x = 0; x < column.weights.size(); ++x) {
          const int64_t at = column.first - first + static_cast<int64_t>(x);
          sum += column.weights[x] * scratch[static_cast<size_t>(at * channels + c)];
        }
        *to++ = sum;
      }
    }
  }
}

}  // namespace thimble::data

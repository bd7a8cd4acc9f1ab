// Samples for the examples: thimble's built-in digits through NNTrainer's callback.
#pragma once

#include <thimble/data.h>

#include <algorithm>
#include <cstdint>
#include <vector>

// Hands out a data set of images and classes, sample by sample.
class Digits {
 public:
  // as_label: what the label is.
  enum class Label { one_hot, image };
  Digits(int64_t count, thimble::data::Split split, Label as_label)
      : digits_(thimble::data::digits(count, /*seed=*/1, split)), as_label_(as_label) {}

  // user_data of the callback is the object.
  static int read(float** inputs, float** labels, bool* last, void* user_data) {
    static_cast<Digits*>(user_data)->read_next(inputs[0], labels[0], last);
    return 0;
  }

  [[nodiscard]] std::vector<float> image(int64_t index) const {
    std::vector<float> pixels(kPixels);
    int32_t digit = 0;
    void* const out[] = {pixels.data(), &digit};
    digits_.read(index, out);
    return pixels;
  }

 private:
  static constexpr int64_t kPixels = 28 * 28;

  void read_next(float* image, float* label, bool* last) {
    int32_t digit = 0;
    void* const out[] = {image, &digit};
    digits_.read(next_, out);
    if (as_label_ == Label::image) {
      std::copy_n(image, kPixels, label);
    } else {
      std::fill_n(label, 10, 0.0F);
      label[digit] = 1.0F;
    }
    *last = ++next_ == digits_.size();
    if (*last) next_ = 0;
  }

  thimble::data::Dataset digits_;
  Label as_label_;
  int64_t next_ = 0;
};

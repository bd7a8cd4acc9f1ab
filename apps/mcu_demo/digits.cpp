// One person's digits, made of the built-in ones.
#include <thimble/data.h>
#include <thimble/error.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <random>
#include <vector>

#include "commands.h"

namespace thimble::mcu_demo {
namespace {

constexpr int kSide = 28;
constexpr int kForms = 2;  // ways in which the person writes each digit

using Image = std::vector<uint8_t>;

class Person {
 public:
  explicit Person(uint32_t seed) : random_(seed), forms_(10) {
    const data::Dataset digits = data::digits(10 * kForms, seed);
    std::vector<float> pixels(kSide * kSide);
    int32_t digit = 0;
    void* const fields[] = {pixels.data(), &digit};
    for (int64_t i = 0; i < digits.size(); ++i) {
      digits.read(i, fields);
      Image form(pixels.size());
      for (size_t j = 0; j < form.size(); ++j) {
        form[j] = static_cast<uint8_t>(std::lround(255.0F * pixels[j]));
      }
      forms_[static_cast<size_t>(digit)].push_back(std::move(form));
    }
  }

  Image write(int digit) {
    const std::vector<Image>& forms = forms_[static_cast<size_t>(digit)];
    const Image& form = forms[random_() % forms.size()];
    const double slant = 0.55 + 0.1 * unit();
    const int down = static_cast<int>(random_() % 3) - 1;
    const int right = static_cast<int>(random_() % 3) - 1;
    Image image(form.size(), 0);
    for (int y = 0; y < kSide; ++y) {
      const int shift = right + static_cast<int>(std::lround(slant * (kSide / 2 - y)));
      for (int x = 0; x < kSide; ++x) {
        const int from_x = x - shift;
        const int from_y = y - down;
        if (from_x < 0 || from_x >= kSide || from_y < 0 || from_y >= kSide) continue;
        image[static_cast<size_t>(y * kSide + x)] =
            form[static_cast<size_t>(from_y * kSide + from_x)];
      }
    }
    return image;
  }

 private:
  double unit() { return static_cast<double>(random_()) * 0x1p-32; }

  std::mt19937 random_;
  std::vector<std::vector<Image>> forms_;
};

void put(std::ofstream& file, uint32_t word) {
  for (int shift = 24; shift >= 0; shift -= 8) file.put(static_cast<char>(word >> shift));
}

std::ofstream opened(const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  if (!file) throw Error(path, "cannot be written");
  return file;
}

void write_set(const std::string& start, int count, Person& person) {
  std::ofstream images = opened(start + "-images-idx3-ubyte");
  std::ofstream labels = opened(start + "-labels-idx1-ubyte");
  const auto samples = static_cast<uint32_t>(count);
  for (const uint32_t word : {2051U, samples, uint32_t{kSide}, uint32_t{kSide}}) put(images, word);
  for (const uint32_t word : {2049U, samples}) put(labels, word);
  for (int i = 0; i < count; ++i) {
    const int digit = i % 10;
    const Image image = person.write(digit);
    images.write(reinterpret_cast<const char*>(image.data()), std::ssize(image));
    labels.put(static_cast<char>(digit));
  }
  if (!images.flush() || !labels.flush()) throw Error(start, "cannot be written");
}

}  // namespace

void write_digits(const std::string& folder) {
  Person person(8);
  write_set(folder + "/train", 300, person);
  write_set(folder + "/t10k", 500, person);
}

}  // namespace thimble::mcu_demo

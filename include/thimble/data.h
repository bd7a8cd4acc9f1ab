// Data sets, from which a trainer reads its samples.
#pragma once

#include <thimble/array.h>
#include <thimble/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace thimble::data {

// One named part of every sample, for example an image or its class.
struct Field {
  std::string name;          // name of the graph's input or label that it feeds
  Shape shape = {};          // of one sample, without the batch; {} for a scalar
  DType dtype = DType::f32;  // of a packed type a sample is padded to whole bytes
  bool is_label = false;
  bool operator==(const Field&) const = default;
};

// A source of samples. Derive from it for a source of your own. Thread safety: the const functions
// may be called from several threads at once.
class Source {
 public:
  virtual ~Source() = default;
  [[nodiscard]] virtual int64_t size() const = 0;
  [[nodiscard]] virtual const std::vector<Field>& fields() const = 0;
  // Writes sample `index` (0 <= index < size()): field f, size_bytes(dtype, shape) bytes in
  // row-major order, to out[f]. Allocates nothing after the first calls.
  virtual void read(int64_t index, std::span<void* const> out) const = 0;
  // Changes a sample in place before training on it; not called for evaluation. `random` is a
  // function of (seed, epoch, index): derive every random choice from it.
  virtual void augment(uint64_t /*random*/, std::span<void* const> /*fields*/) const {}
  // Memory held by the samples.
  [[nodiscard]] virtual int64_t bytes() const { return 0; }
};

// A handle to a source: cheap to copy, never empty, immutable. Copies share the samples.
class Dataset {
 public:
  // Throws Error if there are no samples or fields, or a field has no name, a name twice,
  // or a dimension below 1.
  explicit Dataset(std::shared_ptr<const Source> source);

  [[nodiscard]] int64_t size() const { return source_->size(); }
  [[nodiscard]] const std::vector<Field>& fields() const { return source_->fields(); }
  // As Source::read; throws Error if index or the number of destinations is wrong.
  void read(int64_t index, std::span<void* const> out) const;
  void augment(uint64_t random, std::span<void* const> fields) const {
    source_->augment(random, fields);
  }
  [[nodiscard]] int64_t bytes() const { return source_->bytes(); }

  // The first n samples, or all if there are fewer. n >= 1.
  [[nodiscard]] Dataset take(int64_t n) const;
  // The named samples in the given order; an index may appear several times.
  [[nodiscard]] Dataset subset(std::vector<int64_t> indices) const;
  // {training set, validation set}: disjoint, together everything, drawn by seed. The validation
  // set gets validation_fraction (inside 0..1) of the samples, rounded, at least one.
  [[nodiscard]] std::pair<Dataset, Dataset> split(double validation_fraction, uint64_t seed) const;
  // The same samples under other field names, one per field.
  [[nodiscard]] Dataset named(const std::vector<std::string>& names) const;

 private:
  std::shared_ptr<const Source> source_;
};

enum class Split { train, test };

// MNIST or a set in its format (Fashion-MNIST ...): the four usual IDX files, plain or .gz, in dir
// or dir/mnist. Fields: "image" f32 [28, 28, 1] in 0..1, "digit" i32 scalar.
[[nodiscard]] Dataset mnist(const std::string& dir, Split split = Split::train);

// The built-in digits: handwriting drawn by strokes, no file needed. Fields as of mnist(); equal
// shares of the ten classes. Sample i depends on (seed, split, i) alone, on every platform;
// Split::train and Split::test are different streams.
[[nodiscard]] Dataset digits(int64_t count, uint64_t seed, Split split = Split::train);

// Built-in colour images, no file needed: a disc, ring, triangle, square, star, cross or crescent,
// or something striped, checked or dotted (classes 0 .. 9), of random colours, place, size,
// rotation and brightness, on a cluttered background. side: pixels, at least 16. Made when they are
// read; sample i depends on (seed, split, i, side) alone, on every platform; equal shares of the
// classes. Fields: "image" f32 [side, side, 3] in 0..1, "label" i32 scalar.
[[nodiscard]] Dataset shapes(int64_t count, uint64_t seed, Split split = Split::train,
                             int64_t side = 32);

// CIFAR-10 (https://www.cs.toronto.edu/~kriz/cifar.html), the binary version: data_batch_1.bin to
// data_batch_5.bin and test_batch.bin, in dir or dir/cifar-10-batches-bin.
// Fields: "image" f32 [32, 32, 3] in 0..1, "label" i32 scalar.
[[nodiscard]] Dataset cifar10(const std::string& dir, Split split = Split::train);

struct ImageAugmentation {
  int64_t padding = 4;  // zeros added on every side, before a window of the image's size is cut out
  bool flip = true;     // half of the images are mirrored left to right
};
// The same samples, changed at random whenever they are trained on: every f32 field [H, W, C]. What
// is drawn is a function of (seed, epoch, index), so a resumed run sees the same images.
// Source: He et al., "Deep residual learning for image recognition", 2016, section 4.2.
[[nodiscard]] Dataset augmented(const Dataset& dataset, const ImageAugmentation& options = {});

// The images, every f32 field [H, W, C], in another size: bilinear, as PyTorch's interpolate does
// it. What changes them for training must come after: augmented(resized(...)).
[[nodiscard]] Dataset resized(const Dataset& dataset, int64_t height, int64_t width);

// IDX files (http://yann.lecun.com/exdb/mnist), plain or gzip, every element type. Fields:
// "image" f32: [N, H, W] reads as [H, W, 1], other ranks as they are; u8 as value / 255.
// "digit": integers as i32 (values 0 .. 2^31-1), floating point as f32 targets.
[[nodiscard]] Dataset idx(const std::string& images_path, const std::string& labels_path);

// Records of little-endian f32: the pixels (0..255), then the class one-hot. Fields: "image" f32
// in 0..1, "digit" i32 scalar.
[[nodiscard]] Dataset dat_records(const std::string& path, const Shape& image = {28, 28, 1},
                                  int classes = 10);

// NumPy .npy files, versions 1 to 3, C order, little endian, b1, i1..i8, u1..u8, f4, f8; the first
// dimension counts the samples. Fields: "features" f32 (u1 as value / 255, all else as it is) and
// "label": integers as i32 (values 0 .. 2^31-1), floating point as f32 targets.
[[nodiscard]] Dataset npy(const std::string& features_path, const std::string& labels_path);

struct CsvOptions {
  bool header = true;  // the first line names the columns
  char delimiter = ',';
  // The label's column: by number from 0 (negative: from the end), by name, or monostate for none.
  std::variant<std::monostate, int, std::string> label = -1;
  bool label_is_class = true;  // i32 class index; false: an f32 target
  Shape feature_shape = {};    // {} reads as [columns]
  float divisor = 1;           // features are divided by it
};

// A text table of finite numbers, one sample per line. Fields: "features" f32, "label" scalar.
// Throws Error naming line and column of the first cell that is not a number.
[[nodiscard]] Dataset csv(const std::string& path, const CsvOptions& options = {});

// Samples made on demand: fill(index, out) does what Source::read says and is called from the
// loader's thread; it must be safe to call from several threads at once.
using Fill = std::function<void(int64_t index, std::span<void* const> out)>;
[[nodiscard]] Dataset generator(int64_t size, std::vector<Field> fields, Fill fill);

// Samples given as arrays, one per field, of the field's own type: [samples, ...] or all samples in
// a row. A view's elements must outlive the data set.
using Values = thimble::Array;
[[nodiscard]] Dataset in_memory(std::vector<Field> fields, std::vector<Values> values);

}  // namespace thimble::data

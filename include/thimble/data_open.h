// Data sets from files for a given model: what is read from where follows from the model's inputs
// and labels.
#pragma once

#include <thimble/data.h>
#include <thimble/graph.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace thimble::data {

// The fields that a model is fed: its inputs and, with_labels, its labels, in their order.
[[nodiscard]] std::vector<Field> fields_of(const Graph& graph, bool with_labels = true);

// How images become an input [H, W, C].
struct ImageOptions {
  enum class Fit : uint8_t {
    crop,     // scaled until they cover H x W, then the middle is taken
    stretch,  // each side scaled by itself
  };
  Fit fit = Fit::crop;
  // Of each channel, or one for all: values in 0..1 become (value - mean) / deviation. Empty: 0, 1.
  std::vector<double> mean = {};
  std::vector<double> deviation = {};
};

// How sounds become an input [T] or [T, channels].
struct SoundOptions {
  int64_t sample_rate = 0;  // Hz that files of other rates are resampled to; 0: all files have one
  enum class Window : uint8_t { start, middle };
  Window window = Window::start;  // where the T samples are taken from a longer sound
};

struct OpenOptions {
  // Which part of the samples. None: all of a path that has no parts.
  std::optional<Split> split;
  // Of a path without a test part, the share of the samples that is Split::test, drawn by seed.
  // Inside 0..1.
  double validation_split = 0.2;
  // Draws that share of every class (data::stratified_split). The classes are the only label that
  // is one whole number a sample; to open throws Error where there is none, or more.
  bool stratified = false;
  uint64_t seed = 0;
  ImageOptions image;
  SoundOptions sound;
};

// The samples at a path, for the wanted fields. What a path is, is told by its content:
//   .npz, .safetensors     arrays by the names of the fields; x_train, x_test ... are two parts
//   a.npy,b.npy            .npy or IDX files with commas between, named by fields, or image=a.npy
//   .csv, .tsv             columns by name; a field of n numbers takes NAME_0, NAME_1 ..., or what
//                          is left of the columns; classes may be words
//   IDX                    the images' file, plain or .gz; that of the labels stands beside it
//   .txt                   windows of bytes and the bytes that follow (data::text)
//   a folder               of folders train and test (or validation, valid, val), or of files
//                          train.csv, test.csv ...; of .npy files; MNIST's or CIFAR-10's; of .txt;
//                          of images (PNG, JPEG) or sounds (WAV): a folder a class, classes
//                          numbered in the order of their names, or all in one with labels.csv
//                          (file, label)
// Images and sounds are read when a batch wants them, all else stays in its file or is small. The
// order of the samples is that of the names' bytes, the same on every platform. Numbers are
// converted as open_arrays says. Throws Error naming file and field where anything does not fit,
// NotFound's message where there is nothing at the path.
[[nodiscard]] Dataset open(const std::string& path, const std::vector<Field>& wanted,
                           const OpenOptions& options = {});
[[nodiscard]] Dataset open(const std::string& path, const Graph& graph,
                           const OpenOptions& options = {});

// One .npy file a field; the first dimension counts the samples. Integers and floating-point
// numbers of any size are converted to the field's type: u8 that feeds a floating-point input is
// divided by 255, floating-point numbers feed no integer field, and integers must fit. Dimensions
// of 1 are no difference of shape, and [N, elements] is taken as the field in row-major order.
// Throws Error naming file and field where they do not fit, or the files have different numbers of
// samples.
[[nodiscard]] Dataset open_arrays(const std::vector<std::pair<Field, std::string>>& files);

}  // namespace thimble::data

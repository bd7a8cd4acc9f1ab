#include <thimble/data_text.h>
#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "data/file.h"

namespace thimble::data {
namespace {

namespace fs = std::filesystem;

// Windows of text[begin, end), one `stride` after the other.
class TextSource : public Source {
 public:
  TextSource(std::string text, int64_t begin, int64_t end, int64_t window, int64_t stride)
      : text_(std::move(text)),
        begin_(begin),
        window_(window),
        stride_(stride),
        size_((end - begin - window - 1) / stride + 1),
        fields_{{"tokens", {window}, DType::i32, false}, {"next", {window}, DType::i32, true}} {}

  int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  int64_t bytes() const override { return static_cast<int64_t>(text_.size()); }
  void read(int64_t index, std::span<void* const> out) const override {
    const char* const from = text_.data() + begin_ + index * stride_;
    copy(static_cast<int32_t*>(out[0]), from);
    copy(static_cast<int32_t*>(out[1]), from + 1);
  }

 private:
  void copy(int32_t* to, const char* from) const {
    std::transform(from, from + window_, to,
                   [](char byte) { return static_cast<int32_t>(static_cast<uint8_t>(byte)); });
  }

  std::string text_;
  int64_t begin_;
  int64_t window_;
  int64_t stride_;
  int64_t size_;
  std::vector<Field> fields_;
};

// The files *.txt of a folder, in order of their names; none where it is no folder.
std::vector<std::string> texts_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code unreadable;
    if (at->path().extension() == ".txt" && at->is_regular_file(unreadable)) {
      paths.push_back(at->path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> files_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> paths = texts_in(path);
  if (paths.empty()) paths = texts_in(path + "/text");
  if (paths.empty()) {
    throw NotFound(path,
                   "this folder has no files *.txt, nor has a folder text in it; name a file");
  }
  return paths;
}

// From one window to the next. Throws Error.
int64_t stride_of(const TextOptions& options) {
  const int64_t window = options.window;
  const int64_t stride = options.stride == 0 ? window : options.stride;
  constexpr int64_t kLargest = int64_t{1} << 30;  // sums of two fit every type in use
  if (window < 1 || window > kLargest || stride < 1 || stride > kLargest) {
    throw Error("text", fmt::format("windows of {} bytes, {} apart: both must be at least 1 and at "
                                    "most {}",
                                    window, stride, kLargest));
  }
  return stride;
}

Dataset windows(const std::string& where, std::string text, const TextOptions& options,
                Split split) {
  const int64_t window = options.window;
  const int64_t stride = stride_of(options);
  const auto size = static_cast<int64_t>(text.size());
  if (size < 2 * (window + 1)) {
    throw Error(where, fmt::format("holds {} bytes; {} are needed, for a window of {} bytes and "
                                   "the one after it in both training and test set",
                                   size, 2 * (window + 1), window));
  }
  const int64_t test_begin = size - std::max(size / 10, window + 1);
  const int64_t begin = split == Split::train ? 0 : test_begin;
  const int64_t end = split == Split::train ? test_begin : size;
  return Dataset(std::make_shared<TextSource>(std::move(text), begin, end, window, stride));
}

}  // namespace

Dataset text(const std::string& path, const TextOptions& options, Split split) {
  static_cast<void>(stride_of(options));  // before anything is read
  std::string all;
  for (const std::string& file : files_of(path)) {
    const std::vector<std::byte> bytes = read_file(file);
    all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return windows(path, std::move(all), options, split);
}

Dataset text_of(std::string bytes, const TextOptions& options, Split split) {
  return windows("text", std::move(bytes), options, split);
}

}  // namespace thimble::data

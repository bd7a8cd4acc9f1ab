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
  TextSource(StoragePtr text, int64_t begin, int64_t end, int64_t window, int64_t stride)
      : text_(std::move(text)),
        begin_(begin),
        window_(window),
        stride_(stride),
        size_((end - begin - window - 1) / stride + 1),
        fields_{{"tokens", {window}, DType::i32, false}, {"next", {window}, DType::i32, true}} {}

  int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  int64_t bytes() const override { return text_->memory_bytes(); }
  void read(int64_t index, std::span<void* const> out) const override {
    const int64_t from = begin_ + index * stride_;
    auto* const tokens = static_cast<int32_t*>(out[0]);
    auto* const next = static_cast<int32_t*>(out[1]);
    copy(tokens, from, window_);
    std::copy(tokens + 1, tokens + window_, next);
    copy(next + window_ - 1, from + window_, 1);
  }

 private:
  void copy(int32_t* to, int64_t from, int64_t count) const {
    constexpr int64_t kPart = 1024;
    std::byte part[kPart];
    for (int64_t done = 0; done < count; done += kPart) {
      const std::span<std::byte> some(part, static_cast<size_t>(std::min(count - done, kPart)));
      text_->read(from + done, some);
      std::transform(some.begin(), some.end(), to + done,
                     [](std::byte byte) { return static_cast<int32_t>(byte); });
    }
  }

  StoragePtr text_;
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

Dataset windows(const std::string& where, StoragePtr text, const TextOptions& options,
                Split split) {
  const int64_t window = options.window;
  const int64_t stride = stride_of(options);
  const int64_t size = text->size();
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
  const std::vector<std::string> files = files_of(path);
  if (files.size() == 1) return windows(path, in_file(files[0]), options, split);
  Spill all;
  for (const std::string& file : files) {
    const StoragePtr one = in_file(file);
    std::vector<std::byte> part;
    constexpr int64_t kPart = 1 << 16;
    for (int64_t at = 0; at < one->size(); at += kPart) {
      part.resize(static_cast<size_t>(std::min(one->size() - at, kPart)));
      one->read(at, part);
      all.append(part);
    }
  }
  return windows(path, all.finish(), options, split);
}

Dataset text_of(std::string bytes, const TextOptions& options, Split split) {
  Spill all;
  all.append(std::as_bytes(std::span(bytes)));
  return windows("text", all.finish(), options, split);
}

}  // namespace thimble::data

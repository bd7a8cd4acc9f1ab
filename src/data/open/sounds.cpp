// Data sets of WAV files.
#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>

#include "data/open/media_files.h"
#include "data/open/resample.h"
#include "io/sound/sound_file.h"
#include "ir/element.h"

namespace thimble::data {
namespace {

constexpr std::array kSoundEndings = {".wav"};
constexpr int64_t kMostChannels = 64;
constexpr int64_t kMostRate = 1'000'000;  // Hz

// Buffers that a thread keeps between sounds.
struct SoundScratch {
  std::vector<float> frames;   // as the file has them, [count, channels]
  std::vector<float> channel;  // one of them, or their mean
  std::vector<float> output;
};
thread_local SoundScratch sound_scratch;

io::SoundBytes bytes_of_sound(const std::string& path) {
  const StoragePtr file = in_file(path);
  return {file->size(),
          [file](int64_t offset, std::span<std::byte> to) { file->read(offset, to); }};
}

class SoundSource final : public Source {
 public:
  SoundSource(MediaFiles files, const OpenRequest& request, const Field& input)
      : files_(std::move(files)),
        fields_(request.wanted.begin(), request.wanted.end()),
        input_(static_cast<size_t>(&input - request.wanted.data())),
        length_(input.shape[0]),
        channels_(input.shape.rank() == 2 ? input.shape[1] : 1),
        rate_(request.options.sound.sample_rate),
        window_(request.options.sound.window) {
    for (int64_t i = 0; i < size(); ++i) look_at(files_.paths.path(i));
  }

  int64_t size() const override { return files_.paths.size(); }
  const std::vector<Field>& fields() const override { return fields_; }
  // The list of the files, and what the largest part of a sound takes while it is read.
  int64_t bytes() const override { return files_.bytes() + reading_bytes_; }

  void read(int64_t index, std::span<void* const> out) const override {
    for (size_t f = 0; f < fields_.size(); ++f) {
      if (f == input_) {
        read_sound(files_.paths.path(index), out[f]);
      } else {
        files_.write_label(fields_[f], index, out[f]);
      }
    }
  }

 private:
  // Reads a file's header: what is no sound, or does not fit, is said before the training begins.
  void look_at(const std::string& path) {
    const io::SoundInfo info = io::SoundFile(path, bytes_of_sound(path)).info();
    if (info.channels > kMostChannels || info.sample_rate > kMostRate) {
      throw Error(path, fmt::format("has {} channels at {} Hz; up to {} at {} Hz are read",
                                    info.channels, info.sample_rate, kMostChannels, kMostRate));
    }
    if (channels_ != 1 && info.channels != 1 && info.channels != channels_) {
      throw Error(path, fmt::format("has {} channels, the input \"{}\" takes {}", info.channels,
                                    fields_[input_].name, channels_));
    }
    if (rate_ == 0) rate_ = info.sample_rate;
    if (info.sample_rate != rate_ && !resamplers_.contains(info.sample_rate)) {
      if (!may_resample_) {
        throw Error(path, fmt::format("has {} Hz, files before it have {}; name the rate that all "
                                      "are to have (OpenOptions::sound.sample_rate, --sample-rate)",
                                      info.sample_rate, rate_));
      }
      resamplers_.try_emplace(info.sample_rate, info.sample_rate, rate_);
    }
    const auto resampler = resamplers_.find(info.sample_rate);
    const int64_t frames =
        resampler == resamplers_.end()
            ? length_
            : resampler->second.end_input(0, length_) - resampler->second.first_input(0);
    const auto bytes =
        static_cast<int64_t>(sizeof(float)) * (frames * (info.channels + 1) + length_);
    reading_bytes_ = std::max(reading_bytes_, bytes);
  }

  void read_sound(const std::string& path, void* to) const {
    io::SoundFile sound(path, bytes_of_sound(path));
    const io::SoundInfo& info = sound.info();
    const auto resampler = resamplers_.find(info.sample_rate);
    if ((resampler == resamplers_.end() && info.sample_rate != rate_) ||
        info.channels > kMostChannels ||
        (channels_ != 1 && info.channels != 1 && info.channels != channels_)) {
      throw Error(path, "is another file than when it was looked at");
    }
    const Resampler* const filter = resampler == resamplers_.end() ? nullptr : &resampler->second;
    const int64_t there = filter == nullptr ? info.frames : filter->length(info.frames);
    const int64_t count = std::min(there, length_);
    const int64_t first = window_ == SoundOptions::Window::middle ? (there - count) / 2 : 0;
    const auto type = static_cast<int>(fields_[input_].dtype);
    std::memset(to, 0,
                static_cast<size_t>(size_bytes(fields_[input_].dtype, fields_[input_].shape)));
    if (count == 0) return;
    const int64_t begin = filter == nullptr ? first : filter->first_input(first);
    const int64_t end = filter == nullptr ? first + count : filter->end_input(first, count);
    read_frames(sound, begin, end);
    for (int64_t c = 0; c < channels_; ++c) {
      pick_channel(info.channels, c, end - begin);
      SoundScratch& scratch = sound_scratch;
      const float* samples = scratch.channel.data();
      if (filter != nullptr) {
        scratch.output.resize(static_cast<size_t>(count));
        filter->run(scratch.channel, first, scratch.output);
        samples = scratch.output.data();
      }
      for (int64_t i = 0; i < count; ++i) {
        if (!std::isfinite(samples[i])) {
          throw Error(path, fmt::format("sample {} is not finite; the file is damaged", first + i));
        }
        element_store_real(to, type, i * channels_ + c, double{samples[i]});
      }
    }
  }

  // Frames begin to end - 1 of a sound, with silence before its first and after its last.
  static void read_frames(io::SoundFile& sound, int64_t begin, int64_t end) {
    const io::SoundInfo& info = sound.info();
    std::vector<float>& frames = sound_scratch.frames;
    frames.assign(static_cast<size_t>((end - begin) * info.channels), 0.0F);
    const int64_t from = std::clamp<int64_t>(begin, 0, info.frames);
    const int64_t to = std::clamp<int64_t>(end, from, info.frames);
    if (to == from) return;
    sound.read(from, to - from,
               std::span(frames).subspan(static_cast<size_t>((from - begin) * info.channels),
                                         static_cast<size_t>((to - from) * info.channels)));
  }

  // Channel c of what was read; the mean of all channels where the input takes one.
  void pick_channel(int64_t stored, int64_t c, int64_t count) const {
    SoundScratch& scratch = sound_scratch;
    scratch.channel.resize(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      const float* const frame = scratch.frames.data() + i * stored;
      float value = frame[stored == 1 ? 0 : c];
      if (channels_ == 1) {
        value = 0;
        for (int64_t s = 0; s < stored; ++s) value += frame[s];
        value /= static_cast<float>(stored);
      }
      scratch.channel[static_cast<size_t>(i)] = value;
    }
  }

  MediaFiles files_;
  std::vector<Field> fields_;
  size_t input_;
  int64_t length_;    // samples of the input
  int64_t channels_;  // of the input
  int64_t rate_;      // Hz
  SoundOptions::Window window_;
  bool may_resample_ = rate_ != 0;
  std::map<int64_t, Resampler> resamplers_;  // by the rate of the file
  int64_t reading_bytes_ = 0;
};

}  // namespace

std::span<const char* const> sound_endings() { return kSoundEndings; }

OpenedPart open_sounds(const std::string& folder, const OpenRequest& request) {
  const Field& input = only_input(folder, request, "sounds");
  const int rank = input.shape.rank();
  if (!thimble::is_floating(input.dtype) || rank < 1 || rank > 2 ||
      (rank == 2 && input.shape[1] > kMostChannels)) {
    throw Error(
        folder,
        fmt::format("holds sounds, which feed a floating-point input [samples] or [samples, "
                    "channels]; \"{}\" is {}{}",
                    input.name, to_string(input.dtype), to_string(input.shape)));
  }
  const SoundOptions& options = request.options.sound;
  if (options.sample_rate < 0 || options.sample_rate > kMostRate) {
    throw Error("sound options",
                fmt::format("sample_rate is {} Hz; expected 1 to {}, or 0 for that of "
                            "the files",
                            options.sample_rate, kMostRate));
  }
  const Field* const label = only_label(folder, request, "sounds");
  MediaFiles files = find_media(folder, kSoundEndings, label, request);
  const bool is_part = files.is_part;
  return {Dataset(std::make_shared<SoundSource>(std::move(files), request, input)), is_part};
}

}  // namespace thimble::data

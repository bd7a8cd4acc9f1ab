// data::open for folders of WAV files.
#include <gmock/gmock.h>
#include <thimble/data_open.h>

#include <cmath>
#include <numbers>

#include "data/open/resample.h"
#include "data/test_files.h"

namespace thimble::data::open_sounds_test {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint16_t kPcm = 1;
constexpr uint16_t kFloat = 3;

// data: the samples' bytes, one frame after another.
std::string wav_of(const std::string& data, int bits, int channels = 1, int rate = 16000,
                   uint16_t format = kPcm) {
  const auto frame = static_cast<uint16_t>(channels * bits / 8);
  const std::string fmt = little(format) + little(static_cast<uint16_t>(channels)) +
                          little(static_cast<uint32_t>(rate)) +
                          little(static_cast<uint32_t>(rate * frame)) + little(frame) +
                          little(static_cast<uint16_t>(bits));
  const std::string chunks = "fmt " + little<uint32_t>(16) + fmt + "data" +
                             little(static_cast<uint32_t>(data.size())) + data;
  return "RIFF" + little(static_cast<uint32_t>(4 + chunks.size())) + "WAVE" + chunks;
}

std::string shorts(const std::vector<int>& values) {
  std::string bytes;
  for (const int value : values) bytes += little(static_cast<int16_t>(value));
  return bytes;
}

std::vector<float> sound_of(const std::string& wav, const Shape& shape,
                            const SoundOptions& options = {}) {
  const ScratchFolder folder;
  folder.write("set/a.wav", wav);
  OpenOptions open_options;
  open_options.sound = options;
  const Dataset set = open(folder.path("set"), {{"sound", shape}}, open_options);
  std::vector<float> samples(static_cast<size_t>(shape.elements()));
  void* const out[] = {samples.data()};
  set.read(0, out);
  return samples;
}
std::string sound_error(const std::string& wav, const Shape& shape,
                        const SoundOptions& options = {}) {
  return error_of([&] { (void)sound_of(wav, shape, options); });
}

TEST(open, reads_every_form_of_samples) {
  struct Case {
    const char* name;
    std::string wav;
  };
  const Case cases[] = {
      {"8 bits", wav_of("\x80\xc0\x40", 8)},
      {"16 bits", wav_of(shorts({0, 16384, -16384}), 16)},
      {"24 bits", wav_of(std::string("\0\0\0\0\0\x40\0\0\xc0", 9), 24)},
      {"32 bits",
       wav_of(little<int32_t>(0) + little<int32_t>(1 << 30) + little<int32_t>(-(1 << 30)), 32)},
      {"float", wav_of(little(0.F) + little(0.5F) + little(-0.5F), 32, 1, 16000, kFloat)},
      {"double", wav_of(little(0.) + little(0.5) + little(-0.5), 64, 1, 16000, kFloat)},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(sound_of(c.wav, {3}), ElementsAre(0, 0.5, -0.5));
  }
}

TEST(open, mixes_spreads_and_keeps_channels) {
  const std::string stereo = wav_of(shorts({16384, 0, -16384, 16384}), 16, 2);
  EXPECT_THAT(sound_of(stereo, {2}), ElementsAre(0.25, 0));
  EXPECT_THAT(sound_of(stereo, {2, 1}), ElementsAre(0.25, 0));
  EXPECT_THAT(sound_of(stereo, {2, 2}), ElementsAre(0.5, 0, -0.5, 0.5));
  const std::string mono = wav_of(shorts({16384, -16384}), 16);
  EXPECT_THAT(sound_of(mono, {2, 2}), ElementsAre(0.5, 0.5, -0.5, -0.5));
  EXPECT_THAT(sound_error(stereo, {2, 3}),
              HasSubstr("has 2 channels, the input \"sound\" takes 3"));
}

TEST(open, cuts_and_fills_the_window) {
  const std::string wav = wav_of(shorts({4096, 8192, 12288, 16384}), 16);
  EXPECT_THAT(sound_of(wav, {2}), ElementsAre(0.125, 0.25));
  EXPECT_THAT(sound_of(wav, {2}, {.window = SoundOptions::Window::middle}),
              ElementsAre(0.25, 0.375));
  EXPECT_THAT(sound_of(wav, {6}), ElementsAre(0.125, 0.25, 0.375, 0.5, 0, 0));
  EXPECT_THAT(sound_of(wav_of("", 16), {2}), ElementsAre(0, 0));
}

// A sine of so many Hz at a rate.
std::vector<float> sine(double hz, int rate, int count) {
  std::vector<float> samples;
  for (int i = 0; i < count; ++i) {
    samples.push_back(static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * hz * i / rate)));
  }
  return samples;
}

std::string sine_wav(double hz, int rate, int count) {
  std::string data;
  for (const float sample : sine(hz, rate, count)) data += little(sample);
  return wav_of(data, 32, 1, rate, kFloat);
}

TEST(open, resamples_to_the_rate_that_is_named) {
  // The filter's ripple in its passband, of a sine of 0.5; torchaudio's has the same.
  constexpr float kRipple = 2e-3F;
  for (const int rate : {8000, 22050, 44100, 48000}) {
    SCOPED_TRACE(rate);
    const std::vector<float> sound =
        sound_of(sine_wav(500, rate, rate / 10), {1600}, {.sample_rate = 16000});
    const std::vector<float> expected = sine(500, 16000, 1600);
    for (size_t i = 50; i < 1550; ++i) ASSERT_NEAR(sound[i], expected[i], kRipple) << i;
  }
  // Frequencies that the new rate cannot hold are silent, not folded down.
  const std::vector<float> high =
      sound_of(sine_wav(12000, 48000, 4800), {1600}, {.sample_rate = 16000});
  for (size_t i = 50; i < 1550; ++i) ASSERT_NEAR(high[i], 0, kRipple) << i;
}

TEST(resample, a_window_equals_the_same_part_of_the_whole) {
  const Resampler filter(44100, 16000);
  const std::vector<float> input = sine(700, 44100, 2000);
  const auto part = [&](int64_t first, int64_t count) {
    std::vector<float> samples;
    for (int64_t i = filter.first_input(first); i < filter.end_input(first, count); ++i) {
      samples.push_back(i < 0 || i >= 2000 ? 0 : input[static_cast<size_t>(i)]);
    }
    std::vector<float> output(static_cast<size_t>(count));
    filter.run(samples, first, output);
    return output;
  };
  EXPECT_EQ(filter.length(44100), 16000);
  EXPECT_EQ(filter.length(1), 1);
  const std::vector<float> whole = part(0, 700);
  const std::vector<float> middle = part(333, 50);
  EXPECT_EQ(middle, std::vector(whole.begin() + 333, whole.begin() + 383));
  EXPECT_THAT(error_of([] { Resampler(999983, 999979); }), HasSubstr("cannot be resampled"));
}

TEST(open, asks_for_a_rate_where_files_differ) {
  const ScratchFolder folder;
  folder.write("set/a/1.wav", wav_of(shorts({1, 2}), 16, 1, 8000));
  folder.write("set/a/2.wav", wav_of(shorts({1, 2}), 16, 1, 16000));
  const std::vector<Field> wanted = {{"sound", {2}}, {"word", {}, DType::i32, true}};
  EXPECT_THAT(error_of([&] { (void)open(folder.path("set"), wanted); }),
              HasSubstr("a/2.wav] has 16000 Hz, files before it have 8000; name the rate"));
  OpenOptions options;
  options.sound.sample_rate = 8000;
  EXPECT_EQ(open(folder.path("set"), wanted, options).size(), 2);
  options.sound.sample_rate = -1;
  EXPECT_THAT(error_of([&] { (void)open(folder.path("set"), wanted, options); }),
              HasSubstr("sample_rate is -1 Hz"));
}

TEST(open, reads_the_form_of_speech_commands) {
  const ScratchFolder folder;
  const std::string wav = wav_of(shorts({1, 2}), 16);
  for (const char* const name : {"yes/1.wav", "yes/2.wav", "yes/3.wav", "no/1.wav", "no/2.wav",
                                 "_background_noise_/hum.wav"}) {
    folder.write(std::string("set/") + name, wav);
  }
  folder.write("set/README.md", "");
  folder.write("set/testing_list.txt", "yes/2.wav\nno/2.wav\n");
  folder.write("set/validation_list.txt", "yes/3.wav\n");
  const std::vector<Field> wanted = {{"sound", {2}}, {"word", {}, DType::i32, true}};
  const auto labels = [&](Split split) {
    const Dataset set = open(folder.path("set"), wanted, {.split = split});
    std::vector<int32_t> found;
    for (int64_t i = 0; i < set.size(); ++i) found.push_back(sample_of(set, i).label);
    return found;
  };
  EXPECT_THAT(labels(Split::train), ElementsAre(0, 1));
  EXPECT_THAT(labels(Split::test), ElementsAre(0, 1));
  EXPECT_THAT(error_of([&] { (void)open(folder.path("set"), wanted); }),
              HasSubstr("has a training and a test part"));
}

TEST(open, refuses_what_is_no_sound) {
  EXPECT_THAT(sound_error("no sound at all, but long enough for a header of forty-four", {2}),
              HasSubstr("a.wav] is no WAV file that can be read"));
  EXPECT_THAT(sound_error(wav_of(shorts({1, 2}), 16, 1, 16000, 0x55), {2}),
              HasSubstr("a.wav] is no"));
  EXPECT_THAT(sound_error(wav_of(little(NAN) + little(0.F), 32, 1, 16000, kFloat), {2}),
              HasSubstr("a.wav] sample 0 is not finite"));
  EXPECT_THAT(sound_error(wav_of(shorts({1, 2}), 16), {2, 2, 2}),
              HasSubstr("feed a floating-point input [samples] or [samples, channels]"));
  const std::string whole = wav_of(shorts({1, 2, 3, 4}), 16, 2);
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string error = sound_error(whole.substr(0, size), {2});
    EXPECT_THAT(error, HasSubstr("a.wav] is ")) << size;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
  EXPECT_THAT(
      sound_error(whole.substr(0, whole.size() - 1), {2}),
      HasSubstr("is a WAV file that is cut short: it announces 8 bytes of samples and has 7"));
}

TEST(open, takes_sounds_of_unknown_length_to_their_end) {
  for (const uint32_t unknown : {0xFFFFFFFFU, 0x7FFFF000U}) {
    std::string wav = wav_of(shorts({4096, 8192}), 16);
    wav.replace(wav.find("data") + 4, 4, little(unknown));
    EXPECT_THAT(sound_of(wav, {3}), ElementsAre(0.125, 0.25, 0));
  }
}

}  // namespace
}  // namespace thimble::data::open_sounds_test

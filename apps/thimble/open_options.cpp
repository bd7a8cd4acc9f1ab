#include "open_options.h"

#include "choice.h"
#include "options.h"

namespace thimble::cli {
namespace {

using Fit = data::ImageOptions::Fit;
using Window = data::SoundOptions::Window;
constexpr std::pair<const char*, Fit> kFits[] = {{"crop", Fit::crop}, {"stretch", Fit::stretch}};
constexpr std::pair<const char*, Window> kWindows[] = {{"start", Window::start},
                                                       {"middle", Window::middle}};

}  // namespace

void add_open_options(CLI::App& command, data::OpenOptions& options) {
  command
      .add_option("--validation-split", options.validation_split,
                  "share of the samples that is the test data, where --data has no test part [0.2]")
      ->check(zero_to_one())
      ->type_name("X");
  command.add_flag(
      "--stratified", options.stratified,
      "draw the test data with this share of every class, at least one sample of each; "
      "for models with one label of classes");
  choice(command, "--image-fit", options.image.fit, kFits,
         "images of other proportions than the input's: crop takes the middle, stretch scales each "
         "side by itself [crop]");
  command
      .add_option("--image-mean", options.image.mean,
                  "subtracted from pixels in 0..1: one number, or one a channel [0]")
      ->delimiter(',')
      ->check(any_number())
      ->type_name("X,...");
  command
      .add_option("--image-deviation", options.image.deviation,
                  "what they are divided by then: one number, or one a channel [1]")
      ->delimiter(',')
      ->check(above_zero())
      ->type_name("X,...");
  command
      .add_option("--sample-rate", options.sound.sample_rate,
                  "rate that sounds are resampled to, in Hz [that of the files]")
      ->check(whole_number(1))
      ->type_name("HZ");
  choice(command, "--sound-window", options.sound.window, kWindows,
         "which part is taken of a sound that is longer than the input [start]");
}

}  // namespace thimble::cli

// The classifier that scores generated images.
#pragma once

#include <thimble/thimble.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "eval/recognition.h"

namespace thimble::cli {

// The scores of generated images, and of as many real ones.
struct Verdict {
  double inception_score = 0.0;
  eval::Recognition generated;
  eval::Recognition real;
};

// A trained classifier, and the real images that it learnt from.
class Judge {
 public:
  // Trains the recipe named by recipe.judge on the data. Returns none after Ctrl-C.
  static std::optional<Judge> trained(const Recipe& recipe, const data::Dataset& train,
                                      uint64_t seed, int threads);
  // Loads it from a file that save wrote.
  Judge(const Recipe& recipe, const std::string& checkpoint, const data::Dataset& train,
        int threads);

  // The reason why scores of the classifier in a file are unreliable: it was trained for fewer
  // steps than trained() takes on this many images. Empty: none. Throws Error if the file is not a
  // checkpoint.
  static std::string doubt(const Recipe& recipe, const std::string& checkpoint,
                           int64_t train_images);

  void save(const std::string& path) const { trainer_.save(path); }
  // samples: images of the real ones' shape and range. Where their classes are given, only images
  // of the class asked for count as recognised.
  [[nodiscard]] Verdict judge(const Samples& samples, const data::Dataset& real);

 private:
  Judge(const Recipe& judge, const data::Dataset& train, uint64_t seed, int threads);
  data::Dataset train_;
  Trainer trainer_;
};

// "93 of 100 recognised by the classifier (real ones: 99 of 100), 9.7 kinds (real ones: 9.9)"
[[nodiscard]] std::string to_text(const Verdict& verdict);
// {"images", "recognised", "kinds", "real_images", "real_recognised", "real_kinds"}
[[nodiscard]] nlohmann::ordered_json to_json(const Verdict& verdict);

}  // namespace thimble::cli

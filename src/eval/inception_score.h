// The inception score of generated images.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace thimble::eval {

// Softmax over the classes. logits: [images, classes]; the result likewise. Throws Error where
// there is no image or the sizes do not fit.
[[nodiscard]] std::vector<double> class_probabilities(std::span<const float> logits,
                                                      int64_t classes);

// exp(E_x KL(p(y|x) || p(y))): 1 for images of one kind or of none, up to the number of classes.
// Salimans et al., "Improved Techniques for Training GANs", 2016. Arguments and errors as above.
[[nodiscard]] double inception_score(std::span<const float> logits, int64_t classes);

}  // namespace thimble::eval

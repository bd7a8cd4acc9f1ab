// The smallest memory budget of a training, as its refusal names it.
#pragma once

#include <thimble/error.h>
#include <thimble/trainer.h>

#include <string>

namespace thimble::test {

// Bytes; 0 where a budget of one byte is not refused with such a number.
inline int64_t nearest_budget(const Graph& model, TrainerOptions options) {
  options.memory_budget = 1;
  try {
    const Trainer trainer(model, options);
  } catch (const Error& error) {
    const std::string message = error.what();
    const size_t at = message.find_first_of("0123456789", message.find("budget that works"));
    if (at != std::string::npos) return std::stoll(message.substr(at));
  }
  return 0;
}

}  // namespace thimble::test

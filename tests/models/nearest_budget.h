// The smallest memory budget of a training, as its refusal names it.
#pragma once

#include <thimble/error.h>
#include <thimble/trainer.h>

#include <string>

namespace thimble::test {

// The budget that a message names; 0: it names none.
inline int64_t named_budget(const std::string& message) {
  const size_t at = message.find_first_of("0123456789", message.find("budget that works"));
  return at == std::string::npos ? 0 : std::stoll(message.substr(at));
}

// Bytes; 0 where a budget of one byte is not refused with such a number.
inline int64_t nearest_budget(const Graph& model, TrainerOptions options) {
  options.memory_budget = 1;
  try {
    const Trainer trainer(model, options);
  } catch (const Error& error) {
    return named_budget(error.what());
  }
  return 0;
}

}  // namespace thimble::test

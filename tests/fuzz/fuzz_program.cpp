// Any bytes as a program file, with checksums that are right: programs that run within their
// memory, or an Error.
#include <thimble/error.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "bounded_run.h"
#include "bounded_training.h"
#include "program/check.h"
#include "program_checksums.h"
#include "train/training_program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace thimble;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (const std::string& file : {bytes, test::with_checksums(bytes)}) {
    try {
      train::TrainingProgram training = train::parse_training("fuzz", file);
      for (const auto& [key, program] : training.programs) {
        if (!program::error_of(program).empty()) std::abort();
        static_cast<void>(test::run_bounded(program));
      }
      static_cast<void>(test::train_bounded(std::move(training)));
    } catch (const Error&) {
    }
  }
  return 0;
}

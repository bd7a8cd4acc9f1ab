// The programs of a training as a file for thimble-micro (micro/program_file.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "emit/emit.h"
#include "emit/micro_kernels.h"
#include "program/program.h"

namespace thimble::emit {

// The steps of one optimizer and batch size.
struct MicroTraining {
  std::string optimizer;
  int64_t batch = 1;
  const program::Program* program = nullptr;
  // First contents of parameters and states, by name.
  std::function<std::span<const std::byte>(const std::string& name)> initial;
};

// Where a parameter lies in the model's file.
struct MicroPlace {
  int tensor = -1;
  // Above 0: the parameter is [a, b, c], the tensor [c, b, a].
  std::array<int64_t, 3> reversed{0, 0, 0};
  int64_t offset = -1;  // in the file, where a device reads it in place; below 0: it does not
};

struct MicroModel {
  std::vector<MicroTraining> trainings;        // at least one
  const program::Program* evaluate = nullptr;  // null: none
  const program::Program* predict = nullptr;   // null: none
  int64_t forward_batch = 1;                   // of evaluate and predict
  std::map<std::string, Feed> feeds;           // of scalars, by name
  std::map<std::string, MicroPlace> places;    // by parameter
  uint32_t model_bytes = 0, model_crc = 0;     // of the file without its trained weights
  uint32_t tensors = 0, structure = 0;
};

// The runtime's own structure on a device, beside arena and state.
inline constexpr int64_t kMicroRuntimeBytes = 512;

struct MicroProgram {
  std::string bytes;
  int64_t arena_bytes = 0;
  int64_t state_bytes = 0;
  std::vector<std::string> kernels;  // sorted
};

// Parameters that a training changes, in the order of the program.
[[nodiscard]] std::vector<std::string> trained_parameters(const program::Program& program);

// Throws Error naming the call that thimble-micro has no kernel for, or the parameter that is none
// of the file's tensors.
[[nodiscard]] MicroProgram micro_program_file(const MicroModel& model);

}  // namespace thimble::emit

// Trains a recipe for two steps in a process that its caller has limited, and prints its memory:
//   limited_training RECIPE BATCH BUDGET PROGRAM_BYTES HOLD_BYTES [FILE]
// FILE: a program of that training, instead of graph and planner.
// The address space that the program itself takes is filled up to PROGRAM_BYTES first, so that a
// limit means the same on every machine. HOLD_BYTES are held beside the training.
#include <fmt/format.h>
#include <sys/mman.h>
#include <thimble/thimble.h>

#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "exec/heap.h"
#include "io/temporary_folder.h"
#include "memory/allocation_count.h"

namespace {

using namespace thimble;

// A line of /proc/self/status, in bytes.
int64_t status(const char* name) {
  std::ifstream file("/proc/self/status");
  std::string word;
  while (file >> word) {
    int64_t kib = 0;
    if (word == name && file >> kib) return kib * 1024;
  }
  return -1;
}

// False if the program is larger than that.
bool fill_up(int64_t program_bytes) {
  const int64_t missing = program_bytes - status("VmSize:");
  if (missing < 0) return false;
  if (missing < 4096) return true;
  return ::mmap(nullptr, static_cast<size_t>(missing), PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

int run(char** argument, const char* file) {
  const std::string recipe_name = argument[0];
  const int64_t batch = std::atoll(argument[1]);
  const int64_t budget = std::atoll(argument[2]);
  const int64_t program_bytes = std::atoll(argument[3]);
  const int64_t hold_bytes = std::atoll(argument[4]);
  const int64_t own_bytes = status("VmSize:");
  if (program_bytes > 0 && !fill_up(program_bytes)) {
    fmt::print("program takes {} bytes\n", own_bytes);
    return 3;
  }
  const int64_t before = test::bytes_held();
  const Recipe& recipe = find_recipe(recipe_name);
  // The last batch of an epoch and of the validation is smaller.
  const data::Dataset train = recipe.data("", data::Split::train).take(batch + 1);
  const data::Dataset validation = recipe.data("", data::Split::test).take(batch + 1);
  const test::TemporaryFolder folder;
  const int64_t data_bytes = train.bytes() + validation.bytes();
  test::watch_peak();
  // None of no bytes: it would lie in the heap, which then takes other addresses.
  std::unique_ptr<char[]> held;
  if (hold_bytes > 0) held = std::make_unique<char[]>(static_cast<size_t>(hold_bytes));
  const auto compiled_here = [&] {
    return Trainer(recipe.build(), {.optimizer = recipe.optimizer(),
                                    .ema_decay = recipe.ema_decay,
                                    .batch = batch,
                                    .memory_budget = budget,
                                    .swap_dir = folder.path(),
                                    .threads = 2});
  };
  const auto from_file = [&] {
    CompiledTraining program = CompiledTraining::load(file);
    program.set_swap_dir(folder.path());
    return Trainer(std::move(program));
  };
  Trainer trainer = file == nullptr ? compiled_here() : from_file();
  const int64_t compiled = test::bytes_held() - before - data_bytes;
  const FitResult result = trainer.fit(
      train, {.epochs = 1, .validation = validation, .checkpoint = folder / "checkpoint"});
  const int64_t allocated = test::peak_bytes() - before - data_bytes;
  const Plan plan = trainer.plan();
  fmt::print(
      "program {}\nsamples {}\nplanned {}\npipeline {}\nstructures {}\nmeasured {}\n"
      "allocated {}\naddresses {}\nresident {}\nweights {}\n",
      own_bytes, data_bytes, plan.planned_peak_bytes, plan.input_pipeline_bytes,
      compiled - plan.planned_peak_bytes - hold_bytes, result.measured_peak_bytes, allocated,
      status("VmPeak:"), status("VmHWM:"), trainer.weights_sha256());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  exec::hold_heap();
  if (argc != 6 && argc != 7) return 2;
  try {
    return run(argv + 1, argc == 7 ? argv[6] : nullptr);
  } catch (const std::bad_alloc&) {
    std::fputs("out of memory\n", stdout);
    return 4;
  } catch (const std::exception& error) {
    fmt::print("{}\n", error.what());
    return 5;
  }
}

// Parameters of kernels are numbers: a program on another machine could do nothing with pointers.
#include <gtest/gtest.h>
#include <thimble/recipes.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "exec/program.h"
#include "train/compile.h"

namespace thimble::program_params_test {
namespace {

// Ranges of addresses that are larger are a sanitizer's shadow memory, where nothing is allocated.
// Two sizes in a row look like an address of it.
constexpr uint64_t kShadow = uint64_t{1} << 36;

// Addresses that this process has mapped.
class Mapped {
 public:
  Mapped() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      std::istringstream words(line);
      uint64_t first = 0;
      uint64_t last = 0;
      char dash = 0;
      words >> std::hex >> first >> dash >> last;
      if (last - first >= kShadow) continue;
      ranges_.emplace_back(first, last);
    }
  }
  [[nodiscard]] bool has(uint64_t address) const {
    for (const auto& [first, last] : ranges_) {
      if (address >= first && address < last) return true;
    }
    return false;
  }

 private:
  std::vector<std::pair<uint64_t, uint64_t>> ranges_;
};

// Where a pointer would stand in parameters; -1: nowhere.
int64_t pointer_in(const ir::Params& params, const Mapped& mapped) {
  const std::vector<std::byte>& bytes = params.bytes();
  for (size_t at = 0; at + sizeof(void*) <= bytes.size(); at += sizeof(void*)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    if (mapped.has(word)) return static_cast<int64_t>(at);
  }
  return -1;
}

TEST(params, a_pointer_would_be_found) {
  struct Bad {
    int64_t n = 3;
    const Mapped* pointer = nullptr;
  };
  const Mapped mapped;
  EXPECT_EQ(pointer_in(Bad{3, &mapped}, mapped), 8);
  EXPECT_EQ(pointer_in(Bad{3, nullptr}, mapped), -1);
}

TEST(params, of_every_recipe_hold_no_pointers) {
  const Mapped mapped;
  for (const Recipe& recipe : recipes()) {
    const TrainerOptions options{.optimizer = recipe.optimizer(), .batch = 2};
    const ir::Graph graph =
        train::training_graph(recipe.build().ir(), options, 2, train::StepKind::update);
    exec::CompileOptions compile;
    compile.optimize = false;  // the planner adds transfers and tiles alone
    const exec::Program program(graph, compile);
    for (const program::Call& call : program.data().calls) {
      EXPECT_EQ(pointer_in(call.params, mapped), -1) << recipe.name << ": " << call.op->name;
    }
  }
}

}  // namespace
}  // namespace thimble::program_params_test

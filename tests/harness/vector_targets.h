// The vector targets that a test can run: those compiled into the library and usable here.
#pragma once

#include <hwy/targets.h>

#include <cstdint>
#include <string>
#include <vector>

#include "simd/targets.h"

namespace thimble::test {

// Bits of Highway's. The fallback runs everywhere, and Highway does not list it.
inline std::vector<int64_t> usable_targets() {
  const int64_t fallback = HWY_SCALAR | HWY_EMU128;
  std::vector<int64_t> targets;
  for (int64_t rest = simd::compiled_targets() & (hwy::SupportedTargets() | fallback); rest != 0;
       rest &= rest - 1) {
    targets.push_back(rest & -rest);
  }
  return targets;
}

// Kernels run on this target while the object lives.
class ChosenTarget {
 public:
  explicit ChosenTarget(int64_t target) { hwy::GetChosenTarget().Update(target); }
  ~ChosenTarget() { hwy::GetChosenTarget().DeInit(); }
  ChosenTarget(const ChosenTarget&) = delete;
  ChosenTarget& operator=(const ChosenTarget&) = delete;
};

// Calls body(name) once per usable target.
template <class Body>
void for_each_target(Body body) {
  for (const int64_t target : usable_targets()) {
    const ChosenTarget chosen(target);
    body(std::string(hwy::TargetName(target)));
  }
}

}  // namespace thimble::test

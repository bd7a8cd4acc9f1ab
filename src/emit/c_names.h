// Names and types as C has them.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "ir/op_def.h"

namespace thimble::emit {

// The type of an element in memory; of packed types a byte.
[[nodiscard]] const char* c_type(DType dtype);

// Gives each name an identifier of its own.
class CNames {
 public:
  [[nodiscard]] std::string identifier(std::string_view name);

 private:
  std::set<std::string> used_;
};

}  // namespace thimble::emit

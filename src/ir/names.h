// Names as files hold them.
#pragma once

#include <string>
#include <string_view>

namespace thimble::ir {

// The error of a name of a value, a layer, an output or a metric: it is empty, longer than
// 65,536 bytes, no UTF-8, has control characters, or is one that safetensors files reserve. Empty:
// the name is fine.
[[nodiscard]] std::string name_error(std::string_view name);

// Throws Error where something is wrong with it. what: "output".
void check_name(const char* what, std::string_view name);

}  // namespace thimble::ir

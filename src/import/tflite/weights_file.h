// The weights of a TensorFlow Lite or circle file in a file of their own (wof), and files without
// them. Source of the layouts: Samsung/ONE, issue 12873, pull requests 12892 and 13156.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "import/tflite/file.h"

namespace thimble::tflite {

// What stands in the table of offsets where a tensor has no buffer.
enum class WofLayout : uint8_t {
  proposed,  // -1
  landed,    // 0, as onert-micro reads it
};

// A CRC-32 of tensors (types, shapes) and operators: files of one structure may share weights.
[[nodiscard]] uint32_t structure_of(const File& file);

// A wof file with the constants of these tensors, and behind it 16 bytes of ours: "THMW", the
// version 1, the structure of the model, and a CRC-32 of all bytes before it. Throws Error where a
// tensor is no constant.
[[nodiscard]] std::string wof_file(const File& file, const std::vector<int>& tensors,
                                   WofLayout layout);

// The buffers of a wof file for a model, by tensor; of either layout, with or without our end. They
// lie in `bytes`. Throws Error naming the file and the field at fault: another model, sizes that
// are not those of the tensors, buffers beyond the file's end or over one another, bytes behind the
// last buffer that are no whole end of ours, tensors that are empty in both files.
[[nodiscard]] std::map<int, std::span<const std::byte>> read_wof(const std::string& name,
                                                                 std::span<const std::byte> bytes,
                                                                 const File& model);

// The file with other contents of some tensors, which are as long as these need or empty. All other
// tensors, their numbers and the operators stay. Throws Error naming the tensor at fault.
[[nodiscard]] std::string with_contents(const File& file,
                                        const std::map<int, std::span<const std::byte>>& contents);

}  // namespace thimble::tflite

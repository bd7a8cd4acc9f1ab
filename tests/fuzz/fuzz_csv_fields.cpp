// The first byte chooses the fields, the rest is the table: a data set of them or an Error.
#include "data/open/csv_fields.h"

#include <thimble/error.h>

#include <cmath>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace thimble::data;
  if (size == 0) return 0;
  std::vector<Field> wanted = {{"x", {1 + (data[0] & 3)}}};
  if ((data[0] & 4) != 0) wanted.push_back({"y", {}, thimble::DType::i32, true});
  if ((data[0] & 8) != 0) wanted.push_back({"z", {}, thimble::DType::u8});
  if ((data[0] & 16) != 0) wanted.push_back({"t", {}, thimble::DType::f32, true});
  std::vector<std::string> class_names;
  if ((data[0] & 32) != 0) class_names = {"a", "b"};
  try {
    const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
    const Dataset set = array_dataset(parse_csv_fields("fuzz", text, wanted, class_names));
    float x[4];
    int32_t y = 0;
    uint8_t z = 0;
    float t = 0;
    std::vector<void*> out;
    for (const Field& field : set.fields()) {
      out.push_back(field.name == "x"   ? static_cast<void*>(x)
                    : field.name == "y" ? static_cast<void*>(&y)
                    : field.name == "z" ? static_cast<void*>(&z)
                                        : static_cast<void*>(&t));
    }
    set.read(set.size() - 1, out);
    if (!std::isfinite(x[0]) || !std::isfinite(t)) std::abort();
  } catch (const thimble::Error&) {
  }
  return 0;
}

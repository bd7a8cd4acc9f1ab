#include "emit/c_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

namespace thimble::emit {
namespace {

constexpr const char* kReserved[] = {
    "auto",     "break",  "case",   "char",     "const",    "continue", "default",      "do",
    "double",   "else",   "enum",   "extern",   "float",    "for",      "goto",         "if",
    "inline",   "int",    "long",   "register", "restrict", "return",   "short",        "signed",
    "sizeof",   "static", "struct", "switch",   "typedef",  "union",    "unsigned",     "void",
    "volatile", "while",  "model",  "arena",    "state",    "result",   "learning_rate"};

}  // namespace

const char* c_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "double";
    case DType::f32:
      return "float";
    case DType::f16:
    case DType::bf16:
      return "uint16_t";
    case DType::i64:
      return "int64_t";
    case DType::i32:
      return "int32_t";
    case DType::i16:
      return "int16_t";
    case DType::i8:
      return "int8_t";
    case DType::u32:
      return "uint32_t";
    case DType::u8:
    case DType::i4:
    case DType::boolean:
      return "uint8_t";
  }
  return "uint8_t";
}

std::string CNames::identifier(std::string_view name) {
  std::string made;
  for (const char c : name) {
    made += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  if (made.empty() || std::isalpha(static_cast<unsigned char>(made[0])) == 0) made = "v" + made;
  const bool is_reserved =
      std::find(std::begin(kReserved), std::end(kReserved), made) != std::end(kReserved);
  if (is_reserved) made += "_";
  std::string unused = made;
  for (int number = 2; !used_.insert(unused).second; ++number) {
    unused = fmt::format("{}_{}", made, number);
  }
  return unused;
}

}  // namespace thimble::emit

#include "emit/c_struct.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "emit/c_text.h"

namespace thimble::emit {
namespace {

template <class T>
T as(std::span<const std::byte> bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

template <class T>
std::string real_text(T value, const char* format, const char* suffix) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
  std::string text = fmt::format(fmt::runtime(format), value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + suffix;
}

std::string integer_text(int64_t value) {
  // The least number of each type has no literal.
  if (value == INT32_MIN) return "(-2147483647 - 1)";
  if (value == INT64_MIN) return "(-9223372036854775807 - 1)";
  return fmt::format("{}", value);
}

// The macro of "#if !defined(MACRO)"; empty: another directive.
std::string left_out_by(std::string_view directive) {
  constexpr std::string_view kStart = "#if !defined(";
  if (!directive.starts_with(kStart)) return "";
  return std::string(directive.substr(kStart.size(), directive.find(')') - kStart.size()));
}

}  // namespace

bool is_all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

int64_t scalar_bytes(const std::string& type) {
  static const std::map<std::string, int64_t> known{
      {"char", 1},     {"int8_t", 1},  {"uint8_t", 1},  {"unsigned char", 1}, {"int16_t", 2},
      {"uint16_t", 2}, {"int", 4},     {"int32_t", 4},  {"uint32_t", 4},      {"unsigned", 4},
      {"float", 4},    {"int64_t", 8}, {"uint64_t", 8}, {"double", 8}};
  const auto found = known.find(type);
  return found == known.end() ? 0 : found->second;
}

std::string number_text(const std::string& type, std::span<const std::byte> bytes) {
  if (type == "float") return real_text(as<float>(bytes), "{:.9g}", "F");
  if (type == "double") return real_text(as<double>(bytes), "{:.17g}", "");
  if (type == "int8_t" || type == "char") return integer_text(as<int8_t>(bytes));
  if (type == "uint8_t" || type == "unsigned char") return integer_text(as<uint8_t>(bytes));
  if (type == "int16_t") return integer_text(as<int16_t>(bytes));
  if (type == "uint16_t") return integer_text(as<uint16_t>(bytes));
  if (type == "int" || type == "int32_t") return integer_text(as<int32_t>(bytes));
  if (type == "uint32_t" || type == "unsigned") return fmt::format("{}U", as<uint32_t>(bytes));
  if (type == "uint64_t") return fmt::format("{}U", as<uint64_t>(bytes));
  return integer_text(as<int64_t>(bytes));
}

int64_t CStructs::count_of(const std::string& size, const std::string& where) {
  std::string text(trimmed(size));
  for (int depth = 0; depth < 8; ++depth) {
    int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error == std::errc() && end == text.data() + text.size()) return count;
    text = library_.constant_value(text);
  }
  throw Error(where, "has an array of a size that is no number: " + size);
}

CStructs::Layout CStructs::parsed(const std::string& type) {
  const std::string text = library_.add_type(type);
  Layout made;
  if (text.empty()) return made;
  const size_t open = text.find('{');
  if (open == std::string::npos) {  // typedef another type;
    std::string_view rest = trimmed(std::string_view(text).substr(std::string("typedef").size()));
    return layout(std::string(trimmed(rest.substr(0, rest.rfind(type)))));
  }
  if (trimmed(std::string_view(text).substr(0, open)).find("enum") != std::string_view::npos) {
    return made;
  }
  std::string_view body = std::string_view(text).substr(open + 1, text.rfind('}') - open - 1);
  std::string unless;
  while (!trimmed(body).empty()) {
    body = trimmed(body);
    if (body.starts_with('#')) {
      unless = left_out_by(body.substr(0, body.find('\n')));
      if (!unless.empty()) is_needed_.try_emplace(unless, false);
      body.remove_prefix(std::min(body.find('\n'), body.size() - 1) + 1);
      continue;
    }
    const size_t end = body.find(';');
    const std::string declaration(trimmed(body.substr(0, end)));
    body.remove_prefix(std::min(end, body.size() - 1) + 1);
    // "int h, w" or "int size[4]"
    const size_t space = declaration.rfind(' ', declaration.find_first_of(",["));
    const std::string field_type(trimmed(std::string_view(declaration).substr(0, space)));
    for (const std::string& name :
         split_arguments(std::string_view(declaration).substr(space + 1))) {
      Field field{.type = field_type, .name = name.substr(0, name.find('[')), .unless = unless};
      for (size_t at = name.find('['); at != std::string::npos; at = name.find('[', at + 1)) {
        const int64_t count = count_of(name.substr(at + 1, name.find(']', at) - at - 1), type);
        if (field.is_array) field.row = (field.row == 0 ? 1 : field.row) * count;
        field.count *= count;
        field.is_array = true;
      }
      const int64_t aligned = alignment(field_type);
      field.offset = (made.bytes + aligned - 1) / aligned * aligned;
      made.bytes = field.offset + field.count * bytes(field_type);
      made.alignment = std::max(made.alignment, aligned);
      made.fields.push_back(std::move(field));
    }
  }
  made.bytes = (made.bytes + made.alignment - 1) / made.alignment * made.alignment;
  return made;
}

const CStructs::Layout& CStructs::layout(const std::string& type) {
  const auto known = layouts_.find(type);
  if (known != layouts_.end()) return known->second;
  Layout made = scalar_bytes(type) > 0 ? Layout() : parsed(type);
  return layouts_[type] = std::move(made);
}

int64_t CStructs::alignment(const std::string& type) {
  const int64_t scalar = scalar_bytes(type);
  return scalar > 0 ? scalar : layout(type).alignment;
}

int64_t CStructs::bytes(const std::string& type) {
  if (const int64_t scalar = scalar_bytes(type); scalar > 0) return scalar;
  const Layout& known = layout(type);
  if (known.fields.empty()) throw Error(type, "is no type of kernel parameters");
  return known.bytes;
}

std::vector<std::string> CStructs::unneeded() const {
  std::vector<std::string> macros;
  for (const auto& [macro, is_needed] : is_needed_) {
    if (!is_needed) macros.push_back(macro);
  }
  return macros;
}

std::vector<std::pair<std::string, int64_t>> CStructs::doubles(const std::string& type) {
  std::vector<std::pair<std::string, int64_t>> found;
  for (const Field& field : layout(type).fields) {
    if (field.type == "double" && !field.is_array) found.emplace_back(field.name, field.offset);
  }
  return found;
}

std::string CStructs::element(const std::string& type, std::span<const std::byte> bytes) {
  return scalar_bytes(type) > 0 ? number_text(type, bytes) : initializer(type, bytes);
}

// Zeros at the end are left out.
std::string CStructs::array(const std::string& type, std::span<const std::byte> bytes) {
  const auto size = static_cast<size_t>(this->bytes(type));
  size_t count = bytes.size() / size;
  while (count > 1 && is_all_zero(bytes.subspan((count - 1) * size, size))) --count;
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += (i == 0 ? "{" : ", ") + element(type, bytes.subspan(i * size, size));
  }
  return text + "}";
}

std::string CStructs::rows(const Field& field, std::span<const std::byte> bytes) {
  const auto size = static_cast<size_t>(this->bytes(field.type) * field.row);
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += size) {
    text += (at == 0 ? "{" : ", ") + array(field.type, bytes.subspan(at, size));
  }
  return text + "}";
}

std::string CStructs::initializer(const std::string& type, std::span<const std::byte> bytes) {
  const Layout& known = layout(type);
  if (static_cast<int64_t>(bytes.size()) < known.bytes) {
    throw Error(type, fmt::format("has {} bytes, expected {}", bytes.size(), known.bytes));
  }
  std::string text;
  for (const Field& field : known.fields) {
    const auto size = static_cast<size_t>(this->bytes(field.type));
    const auto all =
        bytes.subspan(static_cast<size_t>(field.offset), size * static_cast<size_t>(field.count));
    if (is_all_zero(all)) continue;
    if (!field.unless.empty()) is_needed_[field.unless] = true;
    text += fmt::format("{}.{} = ", text.empty() ? "" : ", ", field.name);
    if (!field.is_array) {
      text += element(field.type, all);
      continue;
    }
    text += field.row == 0 ? array(field.type, all) : rows(field, all);
  }
  if (!text.empty()) return "{" + text + "}";
  // gcc warns of fields that are left out, but not where others are named.
  const bool is_number = !known.fields.empty() && !known.fields.front().is_array &&
                         scalar_bytes(known.fields.front().type) > 0;
  return is_number ? fmt::format("{{.{} = 0}}", known.fields.front().name) : "{0}";
}

}  // namespace thimble::emit

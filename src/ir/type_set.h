// Sets of element types, by which ops say what their inputs take.
#pragma once

#include <thimble/types.h>

#include <cstdint>
#include <initializer_list>
#include <string>

namespace thimble::ir {

class TypeSet {
 public:
  constexpr TypeSet() = default;
  constexpr TypeSet(DType dtype) : bits_(bit(dtype)) {}  // NOLINT: a type is a set of one
  constexpr TypeSet(std::initializer_list<DType> dtypes) {
    for (const DType dtype : dtypes) bits_ |= bit(dtype);
  }
  [[nodiscard]] constexpr bool has(DType dtype) const { return (bits_ & bit(dtype)) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  constexpr bool operator==(const TypeSet&) const = default;
  friend constexpr TypeSet operator|(TypeSet a, TypeSet b) {
    TypeSet both;
    both.bits_ = a.bits_ | b.bits_;
    return both;
  }
  constexpr TypeSet& operator|=(TypeSet other) { return *this = *this | other; }

 private:
  static constexpr uint32_t bit(DType dtype) { return uint32_t{1} << static_cast<int>(dtype); }
  uint32_t bits_ = 0;
};

// The floating-point types that are computed with; f64 is only moved, compared and converted.
inline constexpr TypeSet kFloatingTypes{DType::f32, DType::f16, DType::bf16};
inline constexpr TypeSet kIntegerTypes{DType::i64, DType::i32, DType::i16,
                                       DType::i8,  DType::u32, DType::u8};
inline constexpr TypeSet kNumberTypes = kFloatingTypes | kIntegerTypes;
inline constexpr TypeSet kAnyType = kNumberTypes | TypeSet{DType::f64, DType::i4, DType::boolean};

// "any type", "floating or i32", "i32": the names of these sets where they fit, else types.
[[nodiscard]] std::string to_string(TypeSet types);

}  // namespace thimble::ir

// Shared by Adam and AdamW, which differ only in how weight decay is applied.
#pragma once

#include "ops/families/kernel/ref.h"
#include "ops/families/update/adam8_simd.h"
#include "ops/families/update/adam_simd.h"
#include "ops/families/update/block_codes.h"
#include "ops/families/update/moments.h"
#include "ops/families/update/rounded_update.h"
#include "ops/families/update/row_update.h"

namespace thimble::ops {

namespace f32 {
using real = float;
THIMBLE_FLOAT_MATH
#include "ops/families/update/adam8_ref.h"
#include "ops/families/update/adam_ref.h"
}  // namespace f32
namespace f64 {
using real = double;
#include "ops/families/update/adam8_ref.h"
#include "ops/families/update/adam_ref.h"
}  // namespace f64

// Base of types for Update. S: the settings; T: the type itself, with bool decoupled(const S&),
// rows_name and rounded_name.
template <class S, class T>
struct AdamFamily {
  using Settings = S;
  static void check(const S& s, const SettingChecks& checks) {
    check_moments(s, checks);
    const auto bits = static_cast<double>(s.state_bits);
    checks.require(s.state_bits == 32 || s.state_bits == 8, "state_bits must be 32 or 8", bits);
    checks.require(s.state_bits == 32 || !s.amsgrad, "amsgrad needs a state_bits of 32", bits);
  }
  static std::span<const ir::ArgDoc> state_docs() {
    static constexpr ir::ArgDoc docs[] = {
        {.name = "exp_avg",
         .doc = "the shape of param; with state_bits 8 codes, u8",
         .types = {DType::f32, DType::u8}},
        {.name = "exp_avg_sq",
         .doc = "the shape of param; with state_bits 8 codes, u8",
         .types = {DType::f32, DType::u8}},
        {"third",
         "max_exp_avg_sq, the shape of param, where amsgrad is set; with state_bits 8 "
         "exp_avg_scale, [blocks]",
         true},
        {"fourth", "exp_avg_sq_scale, [blocks], with state_bits 8", true}};
    return docs;
  }
  // Number of blocks of quantized moments; 0: the moments are not quantized.
  static int64_t blocks(const S& s, const Shape& param) {
    const int64_t n = param.elements();
    if (s.state_bits == 32 || n < s.min_8bit_size) return 0;
    return (n + BLOCK_ELEMENTS - 1) / BLOCK_ELEMENTS;
  }
  static std::vector<ir::StateSpec> states(const S& s, const Shape& param) {
    if (const int64_t count = blocks(s, param); count > 0) {
      const ir::TensorType codes{DType::u8, param};
      const ir::TensorType scales{DType::f32, {count}};
      return {{"exp_avg", codes},
              {"exp_avg_sq", codes},
              {"exp_avg_scale", scales},
              {"exp_avg_sq_scale", scales}};
    }
    std::vector<ir::StateSpec> specs = like_param(param, {"exp_avg", "exp_avg_sq"});
    if (s.amsgrad) specs.push_back({"max_exp_avg_sq", {DType::f32, param}});
    return specs;
  }
  static adam_dims params(const S& options, const Shape& param) {
    auto d = moment_dims<adam_dims>(options);
    d.blocks = static_cast<int>(blocks(options, param));
    d.decoupled = T::decoupled(options) ? 1 : 0;
    return d;
  }
  static constexpr const char* momentum_name = "beta1";
  static constexpr const char* state_bits_name = "state_bits";
  static constexpr double adam_dims::*momentum = &adam_dims::beta1;
  static constexpr const char* rows_doc =
      "The rule for the rows that have a gradient; the moments of the others stay as they are "
      "(\"lazy\" Adam, as torch.optim.SparseAdam).";
  static const char* reaches_all_rows(const S& s) {
    return s.weight_decay != 0.0 ? "weight_decay" : s.state_bits != 32 ? "state_bits=8" : "";
  }
  static const OpDef& by_rows() { return RowUpdate<T>::op(); }
  static bool shrinks(const S& s) { return T::decoupled(s); }
  static ir::IntegerRule integers() { return RoundedUpdate<T>::rule(); }
  template <auto whole, auto quantized>
  static void either(const ir::KernelCall& call) {
    const bool has_blocks = static_cast<const adam_dims*>(call.params)->blocks > 0;
    (has_blocks ? ir::kernel_fn<quantized>() : ir::kernel_fn<whole>())(call);
  }
  static constexpr ir::KernelFn ref = either<&f32::adam_ref, &f32::adam8_ref>;
  static constexpr ir::KernelFn ref64 = either<&f64::adam_ref, &f64::adam8_ref>;
  static constexpr ir::KernelFn fast = either<&adam_simd, &adam8_simd>;
};

}  // namespace thimble::ops

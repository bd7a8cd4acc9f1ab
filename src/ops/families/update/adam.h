// Shared by Adam and AdamW, which differ only in how weight decay is applied.
#pragma once

#include "ops/families/kernel/ref.h"
#include "ops/families/update/adam8_simd.h"
#include "ops/families/update/adam_simd.h"
#include "ops/families/update/coded_states.h"
#include "ops/families/update/integer_update.h"
#include "ops/families/update/moments.h"
#include "ops/families/update/part_update.h"
#include "ops/families/update/row_update.h"

namespace thimble::ops {

namespace f32 {
using real = float;
THIMBLE_FLOAT_MATH
#include "ops/families/update/adam_integer_ref.h"
}  // namespace f32
namespace f64 {
using real = double;
#include "ops/families/update/adam_integer_ref.h"
}  // namespace f64

// Base of types for Update. S: the settings; T: the type itself, with bool decoupled(const S&),
// rows_name, rounded_name and residual_name.
template <class S, class T>
struct AdamFamily {
  using Settings = S;
  static void check(const S& s, const SettingChecks& checks) {
    check_moments(s, checks);
    check_state_bits(s, checks);
    checks.require(s.state_bits == 32 || !s.amsgrad, "amsgrad needs a state_bits of 32",
                   static_cast<double>(s.state_bits));
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
  static std::vector<ir::StateSpec> states(const S& s, const Shape& param) {
    if (const int64_t count = coded_blocks(s, param); count > 0) {
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
    d.blocks = static_cast<int>(coded_blocks(options, param));
    d.decoupled = T::decoupled(options) ? 1 : 0;
    d.biased_root = options.epsilon_hat ? 1 : 0;
    return d;
  }
  static void resize(adam_dims& d, int n) { resize_blocks(d, n); }
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
  static const OpDef& by_part() { return PartUpdate<T>::op(); }
  static ir::Attrs part_attrs(const ir::Attrs& settings, const ir::TrainedPart& part) {
    return PartUpdate<T>::attrs(settings, part);
  }
  static bool shrinks(const S& s) { return T::decoupled(s); }
  static ir::IntegerRule integers() { return integer_rule<T>(); }
  using IntegerDims = adam_integer_dims;
  static constexpr auto integer_part = &f32::adam_integer_part;
  static constexpr IntegerKernels rounded{ir::kernel_fn<&f32::adam_rounded_update_ref>(),
                                          ir::kernel_fn<&f64::adam_rounded_update_ref>()};
  static constexpr IntegerKernels residual{ir::kernel_fn<&f32::adam_residual_update_ref>(),
                                           ir::kernel_fn<&f64::adam_residual_update_ref>()};
  static constexpr ir::KernelFn ref = whole_or_coded<adam_dims, &f32::adam_ref, &f32::adam8_ref>;
  static constexpr ir::KernelFn ref64 = whole_or_coded<adam_dims, &f64::adam_ref, &f64::adam8_ref>;
  static constexpr ir::KernelFn fast = whole_or_coded<adam_dims, &adam_simd, &adam8_simd>;
};

}  // namespace thimble::ops

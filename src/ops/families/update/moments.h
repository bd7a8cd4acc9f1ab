// Optimizers with two moments. Their settings are lr, beta1, beta2, epsilon, weight_decay and
// maximize, some have more.
#pragma once

#include "ops/families/update/update.h"

namespace thimble::ops {

// Descriptions of settings that differ between optimizers.
struct MomentDocs {
  const char* beta2 = "share of the second moment that is kept";
  const char* epsilon = "added to the root of the second moment";
  const char* weight_decay = "added to the gradient, times the parameter";
};

// Describes all settings except maximize, which comes last.
template <class S>
void describe_moments(S& a, ir::FieldVisitor& v, const MomentDocs& docs = {}) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("beta1", a.beta1, "share of the first moment that is kept");
  v.field("beta2", a.beta2, docs.beta2);
  v.field("epsilon", a.epsilon, docs.epsilon);
  v.field("weight_decay", a.weight_decay, docs.weight_decay);
}

template <class S>
void check_moments(const S& s, const SettingChecks& checks) {
  checks.not_negative({{"lr", s.lr}, {"epsilon", s.epsilon}, {"weight_decay", s.weight_decay}});
  checks.below_one({{"beta1", s.beta1}, {"beta2", s.beta2}});
}

// The sizes and constants of the kernels.
template <class Dims, class S>
Dims moment_dims(const S& s) {
  Dims d{};
  d.maximize = s.maximize ? 1 : 0;
  d.beta1 = s.beta1;
  d.beta2 = s.beta2;
  d.epsilon = s.epsilon;
  d.weight_decay = s.weight_decay;
  return d;
}

}  // namespace thimble::ops

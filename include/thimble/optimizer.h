// How gradients change parameters: the optimizers, their settings for some of the parameters, and
// the limits of gradients. Meanings and defaults are PyTorch's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace thimble {

// Stochastic gradient descent. Source: Sutskever et al. 2013, as torch.optim.SGD has it.
struct SGD {
  double lr = 1e-3;
  double momentum = 0.0;   // share of the last change that is kept
  double dampening = 0.0;  // share of the gradient left out of the momentum; not in the first step
  bool nesterov = false;   // needs a momentum and no dampening
  double weight_decay = 0.0;  // added to the gradient, times the parameter
  bool maximize = false;
  bool operator==(const SGD&) const = default;
};

// Source: Kingma and Ba 2015; amsgrad: Reddi et al. 2018.
struct Adam {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.0;  // added to the gradient, times the parameter
  bool amsgrad = false;
  bool maximize = false;
  bool operator==(const Adam&) const = default;
};

// Adam whose weight decay shrinks the parameter itself. Source: Loshchilov and Hutter 2019.
struct AdamW {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;  // each step multiplies parameters by 1 - lr * weight_decay
  bool amsgrad = false;
  bool maximize = false;
  bool operator==(const AdamW&) const = default;
};

// Source: Tieleman and Hinton 2012; centered: Graves 2013.
struct RMSProp {
  double lr = 1e-2;
  double alpha = 0.99;
  double epsilon = 1e-8;
  double momentum = 0.0;
  bool centered = false;
  double weight_decay = 0.0;  // added to the gradient, times the parameter
  bool maximize = false;
  bool epsilon_inside_root = false;  // divide by sqrt(v + epsilon), not by sqrt(v) + epsilon
  bool operator==(const RMSProp&) const = default;
};

// Any of the optimizers, as a value: `Optimizer optimizer = AdamW{.lr = 1e-3};`
// Thread safety: as any value. Errors: thimble::Error where a setting is out of its range.
class Optimizer {
 public:
  using Kind = std::variant<SGD, Adam, AdamW, RMSProp>;

  Optimizer(const SGD& settings);      // NOLINT: implicit by design
  Optimizer(const Adam& settings);     // NOLINT
  Optimizer(const AdamW& settings);    // NOLINT
  Optimizer(const RMSProp& settings);  // NOLINT

  [[nodiscard]] const Kind& kind() const { return kind_; }
  [[nodiscard]] double learning_rate() const;
  // The same with another learning rate or weight decay.
  [[nodiscard]] Optimizer with_learning_rate(double lr) const;
  [[nodiscard]] Optimizer with_weight_decay(double weight_decay) const;

  // A name and settings that differ from the defaults: "adamw:lr=0.002,amsgrad". Names: see names;
  // settings: the fields' names above; a bool alone means true. Throws Error.
  [[nodiscard]] static Optimizer parse(std::string_view text);
  [[nodiscard]] static std::vector<std::string> names();
  // In the form parse takes, every setting that differs from its default.
  [[nodiscard]] std::string text() const;

  bool operator==(const Optimizer&) const = default;

 private:
  Kind kind_;
};

// Parameters with settings of their own. The first group whose pattern matches counts; parameters
// in no group follow the optimizer. A pattern that matches no trained parameter is an error.
struct ParamGroup {
  std::string pattern;    // of names: "encoder.*", "*.bias"; * stands for any characters
  double lr_scale = 1.0;  // the learning rate's factor
  std::optional<double> weight_decay;  // instead of the optimizer's
  bool operator==(const ParamGroup&) const = default;
};

// A limit on gradients, applied before the update.
struct GradientClip {
  enum class Kind : uint8_t {
    none,
    value,        // every element into [-limit, limit]
    tensor_norm,  // each parameter's gradient scaled down to a Euclidean norm of at most limit
    global_norm,  // all gradients scaled down alike; torch.nn.utils.clip_grad_norm_
  };
  Kind kind = Kind::none;
  double limit = 0.0;  // above 0

  static GradientClip by_value(double limit) { return {Kind::value, limit}; }
  static GradientClip by_tensor_norm(double limit) { return {Kind::tensor_norm, limit}; }
  static GradientClip by_global_norm(double limit) { return {Kind::global_norm, limit}; }
  bool operator==(const GradientClip&) const = default;
};

}  // namespace thimble

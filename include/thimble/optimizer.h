// Optimizers as values, settings for some of the parameters, and limits of gradients. The
// optimizers themselves: <thimble/optimizers.h>.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thimble {

namespace ir {
class FieldVisitor;  // what an optimizer's describe shows its settings
struct OptimizerValue;
}  // namespace ir

// Any of the optimizers, as a value: `Optimizer optimizer = AdamW{.lr = 1e-3};` Every struct of
// settings (SGD, AdamW, Lion, ...) converts to it. Thread safety: as any value. Errors:
// thimble::Error where a setting is out of its range.
class Optimizer {
 public:
  // "adamw"
  [[nodiscard]] std::string name() const;
  [[nodiscard]] double learning_rate() const;
  // The setting that a schedule may cycle: momentum, or beta1 of the Adam family; 0 if there is
  // none.
  [[nodiscard]] double momentum() const;
  // The same with another learning rate or weight decay.
  [[nodiscard]] Optimizer with_learning_rate(double lr) const;
  [[nodiscard]] Optimizer with_weight_decay(double weight_decay) const;

  // A name and settings that differ from the defaults: "adamw:lr=0.002,amsgrad". Names: see names;
  // settings: the fields of the struct of that name; a bool alone means true. Throws Error.
  [[nodiscard]] static Optimizer parse(std::string_view text);
  // Settings that the text leaves out are those of `base`, if that is the same optimizer.
  [[nodiscard]] static Optimizer parse(std::string_view text, const Optimizer& base);
  [[nodiscard]] static std::vector<std::string> names();
  // The text from which parse makes this value: every setting that differs from its default.
  [[nodiscard]] std::string text() const;

  bool operator==(const Optimizer& other) const;

  // Used by the optimizers' conversions and the compiler.
  explicit Optimizer(std::shared_ptr<const ir::OptimizerValue> value) : value_(std::move(value)) {}
  [[nodiscard]] const ir::OptimizerValue& value() const { return *value_; }

 private:
  std::shared_ptr<const ir::OptimizerValue> value_;
};

// Parameters with settings of their own. The first group whose pattern matches counts; parameters
// in no group follow the optimizer. A pattern that matches no trained parameter is an error, and so
// is one of a frozen group that matches none at all.
struct ParamGroup {
  std::string pattern;    // of names: "encoder.*", "*.bias"; * stands for any characters
  double lr_scale = 1.0;  // the learning rate's factor
  std::optional<double> weight_decay;  // replaces the optimizer's
  // Penalties: gradients are those of the loss + l1 * sum(|p|) + l2 / 2 * sum(p^2); the loss that
  // is reported leaves them out. In SGD, l2 is the same as weight_decay.
  double l1 = 0.0;
  double l2 = 0.0;
  // Replaces the limit of GradientClip; 0: these gradients are not limited, and no part of the
  // global norm.
  std::optional<double> clip_limit;
  // Not changed in this training: it has no gradient and no optimizer state, and nothing is kept
  // for them. Graph::freeze freezes a parameter for every training of a model.
  bool frozen = false;
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

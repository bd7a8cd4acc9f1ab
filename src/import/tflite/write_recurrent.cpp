// Recurrent layers, step by step: the recurrent operators of such files keep their states from one
// run to the next.
#include <thimble/ops.h>

#include <algorithm>

#include "import/tflite/write.h"
#include "ops/families/recurrent/recurrent.h"

namespace thimble::tflite {
namespace {

constexpr int kNone = -1;  // no tensor: zeros
constexpr int64_t kMostSteps = 1024;

// The operators of all steps of one scan, and their tensors.
class Unrolled {
 public:
  explicit Unrolled(Op& op)
      : op_(op),
        reverse_(op.attrs<ops::ScanAttrs>().reverse),
        steps_(op.shape(0)[1]),
        units_(op.result().shape[2]),
        gates_(op.shape(0)[2] / units_),
        batch_(op.shape(0)[0]) {
    if (steps_ > kMostSteps) {
      op.fail(fmt::format("it has {} steps; such files get one by one, {} at most", steps_,
                          kMostSteps));
    }
    const auto table = CreateUnpackOptions(op.builder(), static_cast<int32_t>(steps_), 1);
    for (int64_t t = 0; t < steps_; ++t) x_.push_back(op.between({batch_, gates_ * units_}));
    op.add(88, 1, op.options(BuiltinOptions_UnpackOptions, table), {op.input(0)}, x_);
  }

  // The steps in their order, each as its number in the sequence.
  [[nodiscard]] std::vector<size_t> order() const {
    std::vector<size_t> steps(x_.size());
    for (size_t i = 0; i < steps.size(); ++i) steps[i] = reverse_ ? steps.size() - 1 - i : i;
    return steps;
  }
  [[nodiscard]] int x(size_t step) const { return x_[step]; }
  [[nodiscard]] size_t steps() const { return x_.size(); }
  [[nodiscard]] int state(int i) { return op_.has(i) ? op_.input(i) : kNone; }

  [[nodiscard]] int add(int a, int b) {
    if (a == kNone || b == kNone) return a == kNone ? b : a;
    return of(0, BuiltinOptions_AddOptions, CreateAddOptions(op_.builder()), {a, b}, width(a));
  }
  [[nodiscard]] int subtract(int a, int b) {
    return of(41, BuiltinOptions_SubOptions, CreateSubOptions(op_.builder()), {a, b}, units_);
  }
  [[nodiscard]] int times(int a, int b) {
    if (a == kNone || b == kNone) return kNone;
    return of(18, BuiltinOptions_MulOptions, CreateMulOptions(op_.builder()), {a, b}, units_);
  }
  [[nodiscard]] int sigmoid(int x) { return of(14, x); }
  [[nodiscard]] int tanh(int x) { return of(28, x); }
  [[nodiscard]] int relu(int x) { return of(19, x); }

  // h times the hidden state's weights.
  [[nodiscard]] int recurrent(int h, const std::vector<float>& bias = {}) {
    if (h == kNone) return kNone;
    if (bias_ == kNone) {
      std::vector<float> numbers = bias;
      numbers.resize(static_cast<size_t>(gates_ * units_), 0.0F);
      bias_ = op_.floats(numbers, {gates_ * units_});
    }
    return of(9, BuiltinOptions_FullyConnectedOptions, CreateFullyConnectedOptions(op_.builder()),
              {h, op_.input(1), bias_}, gates_ * units_);
  }
  // Numbers of the gates, one behind the other; none: zeros.
  [[nodiscard]] std::vector<int> gates(const std::vector<float>& numbers) {
    std::vector<int> parts(static_cast<size_t>(gates_), kNone);
    for (size_t i = 0; i < parts.size() && !numbers.empty(); ++i) {
      const auto first = numbers.begin() + static_cast<int64_t>(i) * units_;
      parts[i] = op_.floats({first, first + units_}, {units_});
    }
    return parts;
  }
  // The gates that lie one behind the other in x.
  [[nodiscard]] std::vector<int> gates(int x) {
    std::vector<int> parts(static_cast<size_t>(gates_));
    for (int& part : parts) part = op_.between({batch_, units_});
    const auto table = CreateSplitOptions(op_.builder(), static_cast<int32_t>(gates_));
    op_.add(49, 1, op_.options(BuiltinOptions_SplitOptions, table), {op_.numbers({-1}, {}), x},
            parts);
    return parts;
  }
  // The states of all steps as result i.
  void give(int i, const std::vector<int>& states) {
    const auto table = CreatePackOptions(op_.builder(), static_cast<int32_t>(states.size()), 1);
    op_.add(83, 1, op_.options(BuiltinOptions_PackOptions, table), states, {op_.output(i)});
  }

 private:
  [[nodiscard]] int64_t width(int x) const {
    return std::find(x_.begin(), x_.end(), x) != x_.end() ? gates_ * units_ : units_;
  }
  template <class T>
  int of(int code, BuiltinOptions type, flatbuffers::Offset<T> table, const std::vector<int>& from,
         int64_t columns) {
    const int y = op_.between({batch_, columns});
    op_.add(code, 1, op_.options(type, table), from, {y});
    return y;
  }
  int of(int code, int x) {
    const int y = op_.between({batch_, units_});
    op_.add(code, 1, {}, {x}, {y});
    return y;
  }

  Op& op_;
  bool reverse_;
  int64_t steps_;
  int64_t units_;
  int64_t gates_;
  int64_t batch_;
  std::vector<int> x_;  // per step
  int bias_ = kNone;    // of recurrent(), the same in all steps
};

void lstm_of(Op& op) {
  Unrolled made(op);
  std::vector<int> states(made.steps());
  std::vector<int> cells(made.steps());
  int h = made.state(2);
  int c = made.state(3);
  for (const size_t t : made.order()) {
    const std::vector<int> gates = made.gates(made.add(made.x(t), made.recurrent(h)));
    const int kept = c == kNone ? kNone : made.times(made.sigmoid(gates[1]), c);
    c = made.add(kept, made.times(made.sigmoid(gates[0]), made.tanh(gates[2])));
    h = made.times(made.sigmoid(gates[3]), made.tanh(c));
    states[t] = h;
    cells[t] = c;
  }
  made.give(0, states);
  if (op.is_read(1)) made.give(1, cells);
}

// (1 - update) fresh + update h as fresh + update (h - fresh).
void gru_of(Op& op) {
  if (op.has(2) && !op.is_constant(2)) op.fail("its bias must be known");
  const std::vector<float> bias = op.has(2) ? op.values(2).floats() : std::vector<float>();
  Unrolled made(op);
  std::vector<int> states(made.steps());
  int h = made.state(3);
  for (const size_t t : made.order()) {
    const std::vector<int> x = made.gates(made.x(t));
    const std::vector<int> u = h == kNone ? made.gates(bias) : made.gates(made.recurrent(h, bias));
    const int reset = made.sigmoid(made.add(x[0], u[0]));
    const int update = made.sigmoid(made.add(x[1], u[1]));
    const int fresh = made.tanh(made.add(x[2], made.times(reset, u[2])));
    h = h == kNone ? made.subtract(fresh, made.times(update, fresh))
                   : made.add(fresh, made.times(update, made.subtract(h, fresh)));
    states[t] = h;
  }
  made.give(0, states);
}

void rnn_of(Op& op) {
  Unrolled made(op);
  const bool is_relu = op.attrs<ops::ScanAttrs>().relu;
  std::vector<int> states(made.steps());
  int h = made.state(2);
  for (const size_t t : made.order()) {
    const int sum = made.add(made.x(t), made.recurrent(h));
    h = is_relu ? made.relu(sum) : made.tanh(sum);
    states[t] = h;
  }
  made.give(0, states);
}

}  // namespace

std::span<const WriteRule> recurrent_writers() {
  static const WriteRule rules[] = {
      {"lstm_scan", lstm_of},
      {"gru_scan", gru_of},
      {"rnn_scan", rnn_of},
  };
  return rules;
}

}  // namespace thimble::tflite

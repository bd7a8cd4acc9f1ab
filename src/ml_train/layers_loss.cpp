// Losses. Their output is the prediction, so that inference can read it.
#include <layer.h>
#include <thimble/ops/affine.h>
#include <thimble/ops/binary_cross_entropy_with_logits.h>
#include <thimble/ops/gaussian_kl.h>
#include <thimble/ops/kl_divergence.h>
#include <thimble/ops/log_softmax.h>
#include <thimble/ops/mse.h>
#include <thimble/ops/reparametrize.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/sigmoid.h>
#include <thimble/ops/softmax.h>
#include <thimble/ops/softmax_cross_entropy.h>
#include <thimble/ops/sum.h>

#include "ml_train/build.h"

namespace thimble::ml_train {
namespace {

using namespace ml::train;

// The mean of (y - t)^2 over all elements.
void build_mse(LayerBuild& b) {
  b.require_inputs(1, 1);
  const Value y = b.plain();
  if (b.shared().training) b.add_loss(mse(y, b.label(b.dim())));
  b.put_plain(y, b.dim());
}

void build_cross_sigmoid(LayerBuild& b) {
  b.require_inputs(1, 1);
  const Value x = b.plain();
  if (b.shared().training) b.add_loss(binary_cross_entropy_with_logits(x, b.label(b.dim())));
  b.put_plain(sigmoid(x), b.dim());
}

// Summed over classes, the mean over samples.
void build_cross_softmax(LayerBuild& b) {
  b.require_inputs(1, 1);
  const Value x = b.plain();
  if (b.shared().training) {
    b.add_loss(softmax_cross_entropy(x, b.label(b.dim()), {.reduction = Reduction::batch_mean}));
  }
  b.put_plain(softmax(x), b.dim());
}

// The divergence of the label's distribution over the width from the softmax of the input, the mean
// over samples.
void build_kld(LayerBuild& b) {
  b.require_inputs(1, 1);
  const Value x = b.plain();
  if (b.shared().training) {
    b.add_loss(
        kl_divergence(log_softmax(x), b.label(b.dim()), {.reduction = Reduction::batch_mean}));
  }
  b.put_plain(softmax(x), b.dim());
}

// A loss of 1 whose derivative by every element is 1.
void build_constant_derivative(LayerBuild& b) {
  b.require_inputs(1, 1);
  if (b.shared().training) b.add_loss(sum(b.plain()));
  b.pass(0);
}

void build_bottleneck(LayerBuild& b) {
  b.require_inputs(2, 2);
  b.require(b.dim(0) == b.dim(1), "expected mean and log variance of one shape");
  const Dim dim = b.dim();
  const auto row = [&](int i) { return reshape(b.plain(i), {-1, dim.elements()}); };
  b.put_plain(reshape(reparametrize(row(0), row(1)), {-1, dim.c, dim.h, dim.w}), dim);
}

// The reconstruction's binary cross-entropy, summed over pixels, plus the divergence of the latent
// distribution from the normal one; the mean over samples.
void build_vae_loss(LayerBuild& b) {
  b.require_inputs(3, 3);
  b.require(b.dim(1) == b.dim(2), "expected mean and log variance of one shape");
  const auto row = [&](int i) { return reshape(b.plain(i), {-1, b.dim(i).elements()}); };
  if (b.shared().training) {
    const Value target = reshape(b.label(b.dim()), {-1, b.dim().elements()});
    b.add_loss(
        binary_cross_entropy_with_logits(row(0), target, {.reduction = Reduction::batch_mean}));
    b.add_loss(gaussian_kl(row(1), row(2)));
  }
  b.put_plain(sigmoid(b.plain()), b.dim());
}

}  // namespace

void add_loss_layers(std::vector<LayerKind>& kinds) {
  const auto loss = [&](const char* type, int number, void (*build)(LayerBuild&)) {
    kinds.push_back({type, number, {}, build, {}, true});
  };
  loss("mse", LAYER_LOSS_MSE, build_mse);
  loss("cross_sigmoid", LAYER_LOSS_CROSS_ENTROPY_SIGMOID, build_cross_sigmoid);
  loss("cross_softmax", LAYER_LOSS_CROSS_ENTROPY_SOFTMAX, build_cross_softmax);
  loss("kld", -3, build_kld);
  loss("constant_derivative", LAYER_LOSS_CONSTANT_DERIVATIVE, build_constant_derivative);
  loss("vae_loss", -1, build_vae_loss);
  kinds.push_back({"bottleneck", -2, {}, build_bottleneck});
}

}  // namespace thimble::ml_train

#pragma once

#include <thimble/graph.h>

#include <string>

namespace thimble {

struct ReparametrizeOptions {
  std::string name;  // of the layer; empty: reparametrize_1, reparametrize_2, ...
};

// A sample of normal distributions through which gradients flow: z = mean + exp(logvar / 2) e with
// new standard normal noise e in each training step; z = mean at inference. mean, logvar: of one
// shape, f32. Throws Error if the shapes differ. Source: Kingma and Welling 2014, section 2.4.
Value reparametrize(Value mean, Value logvar, const ReparametrizeOptions& options = {});

}  // namespace thimble

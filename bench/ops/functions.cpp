#include "ops/functions.h"

#include <thimble/error.h>
#include <thimble/ops/adaptive_average_pool2d.h>
#include <thimble/ops/adaptive_max_pool2d.h>
#include <thimble/ops/average_pool3d.h>
#include <thimble/ops/conv3d.h>
#include <thimble/ops/max_pool3d.h>
#include <thimble/ops/sort.h>

#include "io/json/attrs.h"

namespace thimble::bench {
namespace {

// The settings of conv3d with given weights, described so that JSON can set them.
struct Convolution {
  Conv3dAttrs attrs;
};
void describe(Convolution& c, ir::FieldVisitor& v) {
  v.field("stride", c.attrs.stride, "");
  v.field("padding", c.attrs.padding, "");
  v.field("dilation", c.attrs.dilation, "");
  v.field("groups", c.attrs.groups, "");
}

template <class T>
T options_from(const std::string& name, const nlohmann::json& options) {
  return io::attrs_from_json(ir::Attrs::schema_of<T>(), options, name).template as<T>();
}

}  // namespace

Value call_function(const std::string& name, const nlohmann::json& options,
                    const std::vector<Value>& inputs) {
  const Value x = inputs.at(0);
  if (name == "conv3d") {
    return conv3d(x, inputs.at(1), inputs.at(2), options_from<Convolution>(name, options).attrs);
  }
  if (name == "max_pool3d") return max_pool3d(x, options_from<MaxPool3dOptions>(name, options));
  if (name == "average_pool3d") {
    return average_pool3d(x, options_from<AveragePool3dOptions>(name, options));
  }
  if (name == "adaptive_average_pool3d") {
    return adaptive_average_pool3d(x, {.size = options.at("size").get<std::vector<int64_t>>()});
  }
  if (name == "adaptive_max_pool3d") {
    return adaptive_max_pool3d(x, {.size = options.at("size").get<std::vector<int64_t>>()});
  }
  if (name == "sort") return sort(x, options_from<SortOptions>(name, options)).values;
  throw Error(name, "no such function here; bench/ops/functions.cpp lists them");
}

}  // namespace thimble::bench

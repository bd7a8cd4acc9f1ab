#include "initializers.h"

#include <fmt/format.h>
#include <thimble/initializer.h>

#include "exec/memory.h"

namespace thimble::python {

void bind_initializers(nb::module_& m) {
  static constexpr const char* kKinds[] = {"constant",         "uniform",         "normal",
                                           "variance_uniform", "variance_normal", "orthogonal"};
  nb::class_<Initializer> initializer(m, "Initializer",
                                      "A rule for the initial values of a parameter; thimble.init "
                                      "has the functions that make one.");
  initializer.def("__repr__", [](const Initializer& i) {
    return fmt::format("<thimble.Initializer {}({}, {})>", kKinds[static_cast<size_t>(i.kind)], i.a,
                       i.b);
  });
  initializer.def(
      "array",
      [](const Initializer& rule, const std::vector<int64_t>& dims, uint64_t seed,
         const std::string& name) {
        const Shape shape = shape_from(dims, "array");
        std::byte* data = nullptr;
        nb::object array = new_array(DType::f32, shape, &data);
        exec::fill_initial(rule, name, seed, shape, reinterpret_cast<float*>(data));
        return array;
      },
      nb::arg("shape"), nb::arg("seed") = 0, nb::arg("name") = "",
      nb::sig("def array(self, shape: collections.abc.Sequence[int], seed: int = 0, "
              "name: str = \"\") -> numpy.typing.NDArray[typing.Any]"),
      "Values by the rule: those that a parameter of this name gets with this seed.");
  initializer.def_static("constant", &init::constant, nb::arg("value"));
  initializer.def_static("zeros", &init::zeros);
  initializer.def_static("ones", &init::ones);
  initializer.def_static("uniform", &init::uniform, nb::arg("low"), nb::arg("high"));
  initializer.def_static("normal", &init::normal, nb::arg("mean") = 0.0, nb::arg("stddev") = 1.0);
  initializer.def_static("lecun_uniform", &init::lecun_uniform);
  initializer.def_static("lecun_normal", &init::lecun_normal);
  initializer.def_static("xavier_uniform", &init::xavier_uniform, "Glorot and Bengio 2010.");
  initializer.def_static("xavier_normal", &init::xavier_normal, "Glorot and Bengio 2010.");
  initializer.def_static("he_uniform", &init::he_uniform,
                         "He et al. 2015; PyTorch's kaiming_uniform_.");
  initializer.def_static("he_normal", &init::he_normal,
                         "He et al. 2015; PyTorch's kaiming_normal_.");
  initializer.def_static(
      "torch_default", &init::torch_default,
      "U(-1/sqrt(fan_in), 1/sqrt(fan_in)): what PyTorch gives dense and convolution weights.");
  initializer.def_static("orthogonal", &init::orthogonal, nb::arg("gain") = 1.0,
                         "Saxe et al. 2014.");
}

}  // namespace thimble::python

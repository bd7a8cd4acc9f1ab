// Parameters of kernels as C initializers, and kernels by their names.
#include "emit/c_struct.h"

#include <gtest/gtest.h>

#include <optional>

#include "harness/error_of.h"
#include "ir/op_def.h"
#include "ops/families/binary/binary_dims.h"
#include "ops/families/nary/nary_dims.h"
#include "simd/conv_dims.h"
#include "simd/requantize.h"

namespace thimble::emit {
namespace {

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

TEST(c_struct, names_the_fields_and_leaves_out_zeros) {
  CLibrary library;
  CStructs structs(library);
  EXPECT_EQ(structs.bytes("conv_dims"), static_cast<int64_t>(sizeof(conv_dims)));
  conv_dims d{};
  d.n = 2;
  d.pad_left = -1;
  d.k_count = 7;
  EXPECT_EQ(structs.initializer("conv_dims", bytes_of(d)),
            "{.n = 2, .pad_left = -1, .k_count = 7}");
  // Another name of the same struct.
  EXPECT_EQ(structs.bytes("conv2d_dims"), static_cast<int64_t>(sizeof(conv_dims)));
}

TEST(c_struct, reads_arrays_up_to_their_last_number) {
  CLibrary library;
  CStructs structs(library);
  binary_dims d{};
  d.count = 2;
  d.size[1] = 5;
  EXPECT_EQ(structs.bytes("binary_dims"), static_cast<int64_t>(sizeof(binary_dims)));
  EXPECT_EQ(structs.initializer("binary_dims", bytes_of(d)), "{.count = 2, .size = {0, 5}}");
}

TEST(c_struct, braces_rows_of_arrays_of_arrays) {
  CLibrary library;
  CStructs structs(library);
  nary_dims d{};
  d.stride[0][1] = 3;
  EXPECT_EQ(structs.bytes("nary_dims"), static_cast<int64_t>(sizeof(nary_dims)));
  EXPECT_EQ(structs.initializer("nary_dims", bytes_of(d)).substr(0, 27),
            "{.stride = {{0, 3}, {0}, {0");
}

TEST(c_struct, says_which_fields_were_zero_everywhere) {
  const std::vector<std::string> left_out{"QUANTIZED_FACTOR_IS_SCALE"};
  for (const bool is_fixed : {false, true}) {
    CLibrary library;
    CStructs structs(library);
    const quantized_factor factor{0.5F, is_fixed ? 1 << 30 : 0, 0};
    EXPECT_EQ(structs.bytes("quantized_factor"), static_cast<int64_t>(sizeof factor));
    EXPECT_EQ(structs.initializer("quantized_factor", bytes_of(factor)),
              is_fixed ? "{.scale = 0.5F, .multiplier = 1073741824}" : "{.scale = 0.5F}");
    EXPECT_EQ(structs.unneeded(), is_fixed ? std::vector<std::string>{} : left_out);
  }
}

TEST(c_struct, writes_numbers_exactly) {
  const float third = 1.0F / 3.0F;
  EXPECT_EQ(std::stof(number_text("float", bytes_of(third))), third);
  const double tenth = 0.1;
  EXPECT_EQ(std::stod(number_text("double", bytes_of(tenth))), tenth);
  const float whole = -2.0F;
  EXPECT_EQ(number_text("float", bytes_of(whole)), "-2.0F");
  const int32_t least = INT32_MIN;
  EXPECT_EQ(number_text("int32_t", bytes_of(least)), "(-2147483647 - 1)");
}

// Kernels that are written in C++ have another kind of name.
std::optional<KernelName> c_name_of(const ir::KernelFn& kernel) {
  const std::vector<std::byte> parameters(4096);
  const char* const name = kernel == nullptr ? nullptr : kernel.name(parameters.data());
  if (name == nullptr) return std::nullopt;
  try {
    return kernel_name_of(name);
  } catch (const Error&) {
    return std::nullopt;
  }
}

TEST(c_library, finds_the_source_of_every_reference_kernel) {
  CLibrary library;
  int found = 0;
  for (const ir::OpDef* const op : ir::all_ops()) {
    std::vector<ir::KernelFn> kernels{op->kernels.ref};
    for (const ir::TypedKernels& typed : op->kernels.typed) kernels.push_back(typed.ref);
    for (const ir::KernelFn& kernel : kernels) {
      const auto name = c_name_of(kernel);
      if (!name) continue;
      EXPECT_EQ(test::error_of([&] { library.add(*name); }), test::kNoError) << op->name;
      ++found;
    }
  }
  EXPECT_GT(found, 400);
}

TEST(c_library, refuses_a_function_that_is_no_reference_kernel) {
  EXPECT_NE(test::error_of([] {
              static_cast<void>(kernel_name_of("[kernel = &thimble::ops::add_impl::add_simd]"));
            }),
            test::kNoError);
  CLibrary library;
  EXPECT_NE(test::error_of([&] {
              library.add({"conv2d", "float", "conv3d_ref"});
            }),
            test::kNoError);
}

}  // namespace
}  // namespace thimble::emit

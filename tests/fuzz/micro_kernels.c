/* The kernels that fuzz_micro links in: those of the program in seeds/micro. */
#include "ops/families/kernel/ref_c.h"
/* clang-format off */
#include "micro/kernel_table.h"
#include "ops/accuracy/ref.h"
#include "ops/activation_bits/ref.h"
#include "ops/conv2d/ref.h"
#include "ops/conv2d_input_grad/ref.h"
#include "ops/conv2d_weight_grad/ref.h"
#include "ops/matmul/ref.h"
#include "ops/max_pool2d/ref.h"
#include "ops/relu/ref.h"
#include "ops/sgd_update/ref.h"
#include "ops/softmax_cross_entropy/ref.h"
#include "ops/sum_to/ref.h"
#include "ops/families/extents/elements.h"
#include "ops/families/extents/layers.h"
#include "ops/families/extents/updates.h"
/* clang-format on */

/* in(i) and out(i) of a call. */
#define I(i) ((const float*)in[i])
#define O(i) ((float*)out[i])
#define KERNEL(name, call)                                                         \
  static void run_##name(void* const* out, const void* const* in, const void* d) { \
    (void)in;                                                                      \
    call;                                                                          \
  }
KERNEL(accuracy, accuracy_ref(O(0), I(0), in[1], d))
KERNEL(bits, activation_bits_ref(out[0], I(0), d))
KERNEL(by_bits, grad_by_bits_ref(O(0), I(0), in[1], d))
KERNEL(conv, conv2d_ref(O(0), I(0), I(1), I(2), d))
KERNEL(conv_input, conv2d_input_grad_ref(O(0), I(0), I(1), I(2), d))
KERNEL(conv_weight, conv2d_weight_grad_ref(O(0), I(0), I(1), d))
KERNEL(matmul, matmul_ref(O(0), I(0), I(1), I(2), d))
KERNEL(pool, max_pool2d_ref(O(0), out[1], I(0), d))
KERNEL(pool_only, max_pool2d_inference_ref(O(0), I(0), d))
KERNEL(pool_grad, max_pool2d_grad_ref(O(0), I(0), in[1], d))
KERNEL(pool_pack, max_pool2d_pack_ref(out[0], in[0], d))
KERNEL(pool_packed, max_pool2d_packed_grad_ref(O(0), I(0), in[1], d))
KERNEL(relu, relu_grad_ref(O(0), I(0), I(1), d))
KERNEL(loss, softmax_cross_entropy_ref(O(0), I(0), in[1], I(2), d))
KERNEL(loss_grad, softmax_cross_entropy_grad_ref(O(0), I(0), I(1), in[2], I(3), d))
KERNEL(sum, sum_to_ref(O(0), I(0), d))
static void run_sgd(void* const* out, const void* const* in, const void* d) {
  float* const all[] = {O(0), O(1)};
  sgd_update_ref(all, I(0), I(1), I(2), in[3], I(4), d);
}

const micro_kernel micro_kernels[] = {
    {"accuracy/accuracy_ref", sizeof(class_dims), accuracy_ref_extents, run_accuracy},
    {"activation_bits/activation_bits_ref", sizeof(bits_dims), activation_bits_ref_extents,
     run_bits},
    {"activation_bits/grad_by_bits_ref", sizeof(grad_by_bits_dims), grad_by_bits_ref_extents,
     run_by_bits},
    {"conv2d/conv2d_ref", sizeof(conv_dims), conv2d_ref_extents, run_conv},
    {"conv2d_input_grad/conv2d_input_grad_ref", sizeof(conv_dims), conv2d_input_grad_ref_extents,
     run_conv_input},
    {"conv2d_weight_grad/conv2d_weight_grad_ref", sizeof(conv_dims), conv2d_weight_grad_ref_extents,
     run_conv_weight},
    {"matmul/matmul_ref", sizeof(matmul_dims), matmul_ref_extents, run_matmul},
    {"max_pool2d/max_pool2d_ref", sizeof(pool_dims), max_pool2d_ref_extents, run_pool},
    {"max_pool2d/max_pool2d_inference_ref", sizeof(pool_dims), max_pool2d_inference_ref_extents,
     run_pool_only},
    {"max_pool2d/max_pool2d_grad_ref", sizeof(pool_dims), max_pool2d_grad_ref_extents,
     run_pool_grad},
    {"max_pool2d/max_pool2d_pack_ref", sizeof(pool_pack_dims), max_pool2d_pack_ref_extents,
     run_pool_pack},
    {"max_pool2d/max_pool2d_packed_grad_ref", sizeof(pool_dims), max_pool2d_packed_grad_ref_extents,
     run_pool_packed},
    {"relu/relu_grad_ref", sizeof(unary_dims), unary_dims_2_extents, run_relu},
    {"sgd_update/sgd_update_ref", sizeof(sgd_dims), sgd_update_ref_extents, run_sgd},
    {"softmax_cross_entropy/softmax_cross_entropy_ref", sizeof(cross_entropy_dims),
     softmax_cross_entropy_ref_extents, run_loss},
    {"softmax_cross_entropy/softmax_cross_entropy_grad_ref", sizeof(cross_entropy_dims),
     softmax_cross_entropy_grad_ref_extents, run_loss_grad},
    {"sum_to/sum_to_ref", sizeof(reduce_dims), reduce_dims_1_extents, run_sum},
};
const uint32_t micro_kernel_count = sizeof micro_kernels / sizeof micro_kernels[0];

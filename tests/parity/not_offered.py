"""What PyTorch has and thimble has not, by kind and reason."""

# Entries of PyTorch's databases without a counterpart, by kind and reason.
_OPS: dict[str, str] = {
    "complex numbers: tensors are real": """
        conj conj_physical resolve_conj resolve_neg view_as_real view_as_complex complex imag
        real polar angle cdouble cfloat chalf isreal nn.functional.silu/complex""",
    "Fourier transforms and windows": """
        fft.fft fft.fft2 fft.fftn fft.hfft fft.hfft2 fft.hfftn fft.rfft fft.rfft2 fft.rfftn
        fft.ifft fft.ifft2 fft.ifftn fft.ihfft fft.ihfft2 fft.ihfftn fft.irfft fft.irfft2
        fft.irfftn fft.fftshift fft.ifftshift signal.windows.hamming signal.windows.hann
        signal.windows.bartlett signal.windows.blackman signal.windows.cosine
        signal.windows.exponential signal.windows.gaussian signal.windows.kaiser
        signal.windows.general_cosine signal.windows.general_hamming signal.windows.nuttall stft
        istft""",
    "matrix decompositions and solvers": """
        linalg.cross linalg.det linalg.diagonal linalg.cholesky linalg.cholesky_ex linalg.cond
        linalg.eig linalg.eigvals linalg.eigh linalg.eigvalsh linalg.householder_product
        linalg.ldl_factor linalg.ldl_factor_ex linalg.ldl_solve linalg.lstsq
        linalg.lstsq/grad_oriented linalg.matrix_power linalg.norm
        linalg.norm/subgradients_at_zero linalg.matrix_norm linalg.qr linalg.slogdet
        linalg.vander linalg.lu_factor linalg.lu_factor_ex linalg.lu linalg.lu_solve linalg.inv
        linalg.inv_ex linalg.solve linalg.solve_ex linalg.solve_triangular linalg.matrix_rank
        linalg.matrix_rank/hermitian linalg.pinv linalg.pinv/singular linalg.pinv/hermitian
        linalg.svd linalg.svdvals linalg.tensorinv linalg.tensorsolve cholesky cholesky_inverse
        cholesky_solve geqrf lu_unpack lu lu_solve matrix_exp ormqr qr triangular_solve svd
        svd_lowrank pca_lowrank pinverse logdet corrcoef cov cross""",
    "special functions": """
        mvlgamma/mvlgamma_p_1 mvlgamma/mvlgamma_p_3 mvlgamma/mvlgamma_p_5
        polygamma/polygamma_n_0 polygamma/polygamma_n_1 polygamma/polygamma_n_2
        polygamma/polygamma_n_3 polygamma/polygamma_n_4 special.i0e special.i1 special.i1e
        special.ndtr special.polygamma/special_polygamma_n_0 special.xlog1py special.zeta
        special.entr special.ndtri special.log_ndtr special.erfcx special.airy_ai
        special.bessel_j0 special.bessel_j1 special.bessel_y0 special.bessel_y1
        special.chebyshev_polynomial_t special.chebyshev_polynomial_u
        special.chebyshev_polynomial_v special.chebyshev_polynomial_w
        special.hermite_polynomial_h special.hermite_polynomial_he special.laguerre_polynomial_l
        special.legendre_polynomial_p special.modified_bessel_i0 special.modified_bessel_i1
        special.modified_bessel_k0 special.modified_bessel_k1 special.scaled_modified_bessel_k0
        special.scaled_modified_bessel_k1 special.shifted_chebyshev_polynomial_t
        special.shifted_chebyshev_polynomial_u special.shifted_chebyshev_polynomial_v
        special.shifted_chebyshev_polynomial_w special.spherical_bessel_j0 i0 igamma igammac
        digamma lgamma erfinv xlogy sinc hypot heaviside nextafter logaddexp logaddexp2
        logcumsumexp""",
    "elementary functions": """
        float_power copysign ldexp frexp sgn signbit fmax fmin nan_to_num""",
    "rounding to decimals": """
        round/decimals_3 round/decimals_neg_3""",
    "whole numbers": "lcm gcd short hash_tensor",
    "tests of values": """
        allclose equal isclose isin isfinite isinf isposinf isneginf isnan all any count_nonzero""",
    "the shape of the result depends on values": """
        masked_select nonzero nonzero_static argwhere unique unique_consecutive item bincount
        histogram histogramdd histc""",
    "images of three dimensions, beyond convolution and pooling": """
        nn.functional.conv_transpose3d nn.functional.fractional_max_pool3d
        nn.functional.max_unpool3d nn.functional.max_unpool3d/grad
        nn.functional.dropout3d""",
    "random numbers: those of random_uniform, random_normal and dropout are thimble's own": """
        cauchy exponential geometric log_normal normal/in_place uniform randn randn_like
        rand_like randint randint_like multinomial normal normal/number_mean bernoulli
        nn.functional.rrelu nn.functional.dropout2d nn.functional.alpha_dropout
        nn.functional.feature_alpha_dropout/with_train
        nn.functional.feature_alpha_dropout/without_train nn.functional.fractional_max_pool2d""",
    "arrays that hold no input: NumPy makes them": """
        arange linspace linspace/tensor_overload logspace logspace/tensor_overload empty_like
        zeros_like ones_like full_like new_zeros new_ones ones zeros full new_empty
        new_empty_strided empty_strided empty eye empty_permuted scalar_tensor new_full
        tril_indices triu_indices unravel_index broadcast_shapes meshgrid/variadic_tensors
        meshgrid/list_of_tensors fill zero_ combinations cartesian_prod""",
    "memory: copies, strides and changes in place are the compiler's": """
        clone contiguous positive alias_copy as_strided as_strided/partial_views as_strided_copy
        as_strided_scatter resize_ resize_as_ to_sparse sparse.sampled_addmm sparse.mm/reduce
        put index_put _unsafe_masked_index _unsafe_masked_index_put_accumulate _chunk_cat""",
    "PyTorch's internals and other devices": """
        torch._scaled_mm_v2 torch._scaled_mm torch.ops.aten._safe_softmax.default
        torch.ops.aten._flash_attention_forward torch.ops.aten._efficient_attention_forward
        _softmax_backward_data native_dropout_backward max_pool2d_with_indices_backward
        jiterator_unary jiterator_binary jiterator_4inputs_with_extra_args
        jiterator_binary_return_by_ref jiterator_2inputs_2outputs bmm/triton_optimized gradient
        _upsample_bilinear2d_aa""",
    "masked reductions": """
        masked.sum masked.prod masked.cumsum masked.cumprod masked.amax masked.amin
        masked.argmax masked.argmin masked.mean masked.median masked.norm masked.var masked.std
        masked.softmax masked.log_softmax masked.softmin masked.normalize masked.logaddexp
        masked.logsumexp""",
    "statistics": """
        nanmean nansum nanmedian median mode quantile nanquantile kthvalue renorm norm/nuc trace
        trapz trapezoid cumulative_trapezoid diff""",
    "parts written back, and other ways to scatter": """
        masked_scatter scatter_reduce/sum scatter_reduce/prod scatter_reduce/mean
        scatter_reduce/amin scatter_reduce/amax index_fill index_copy index_reduce/mean
        index_reduce/prod index_reduce/amin index_reduce/amax select_scatter slice_scatter
        diagonal_scatter _segment_reduce/lengths _segment_reduce/offsets bucketize searchsorted""",
    "diagonals, triangles, repetitions and windows": """
        diag diag_embed diagonal diagonal_copy diagflat block_diag kron tile repeat
        repeat_interleave rot90 unfold unfold_copy""",
    "losses": """
        nn.functional.linear_cross_entropy nn.functional.linear_cross_entropy/chunked
        nn.functional.linear_cross_entropy/chunked_none""",
    "distances": "cdist nn.functional.pdist",
    "layers": """
        nn.functional.bilinear nn.functional.embedding_bag
        nn.functional.max_unpool1d nn.functional.max_unpool1d/grad nn.functional.max_unpool2d
        nn.functional.max_unpool2d/grad""",
}

_MODULES: dict[str, str] = {
    "images of three dimensions": """
        nn.ConvTranspose3d nn.LazyConvTranspose3d
        nn.FractionalMaxPool3d nn.LPPool3d""",
    "random numbers: thimble's own generator draws others": "nn.FractionalMaxPool2d",
    "losses": "nn.LinearCrossEntropyLoss",
    "layers": "nn.Bilinear",
}

_OPTIMIZERS: dict[str, str] = {
    "asks for the loss several times in a step, so no Trainer takes it; tb.LBFGS steps a trainer or a function": "LBFGS",
}

NOT_OFFERED = {
    kind: {reason: names.split() for reason, names in groups.items()}
    for kind, groups in {"op": _OPS, "module": _MODULES, "optimizer": _OPTIMIZERS}.items()
}

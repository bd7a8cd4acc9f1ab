# Settings that every target of the project shares.
find_package(Threads REQUIRED)

# thimble_settings(TARGET): warnings, sanitizers, deterministic floating point.
function(thimble_settings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic
    # Designated initializers leave fields at their defaults on purpose.
    -Wno-missing-field-initializers
    # Contraction would make results depend on the compiler's choice; kernels use explicit FMA.
    -ffp-contract=off
    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
    $<$<BOOL:${THIMBLE_WERROR}>:-Werror>)
  if(THIMBLE_SANITIZE)
    list(JOIN THIMBLE_SANITIZE "," sanitizers)
    target_compile_options(${target} PRIVATE -fsanitize=${sanitizers} -fno-omit-frame-pointer
      -fno-sanitize-recover=all)
    target_link_options(${target} PRIVATE -fsanitize=${sanitizers})
  endif()
endfunction()

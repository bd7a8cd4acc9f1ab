# Settings that every target of the project shares.
include(CheckLinkerFlag)
find_package(Threads REQUIRED)

# A program is linked without what it never calls, and in the order of text_order.ld. A sanitizer
# finds its own tables in the order it made them.
set(THIMBLE_TEXT_ORDER ${CMAKE_CURRENT_LIST_DIR}/text_order.ld)
set(THIMBLE_LINK_OPTIONS "")
if(NOT THIMBLE_SANITIZE)
  check_linker_flag(CXX -Wl,--gc-sections THIMBLE_LINKER_COLLECTS)
  check_linker_flag(CXX -Wl,-T,${THIMBLE_TEXT_ORDER} THIMBLE_LINKER_ORDERS)
  if(THIMBLE_LINKER_COLLECTS)
    list(APPEND THIMBLE_LINK_OPTIONS -Wl,--gc-sections)
  endif()
  if(THIMBLE_LINKER_ORDERS)
    list(APPEND THIMBLE_LINK_OPTIONS -Wl,-T,${THIMBLE_TEXT_ORDER})
  endif()
else()
  # Five times as fast with so many symbols.
  check_linker_flag(CXX -fuse-ld=lld THIMBLE_LINKER_IS_LLD)
  if(THIMBLE_LINKER_IS_LLD)
    list(APPEND THIMBLE_LINK_OPTIONS -fuse-ld=lld)
  endif()
endif()

# GCC collects garbage from 128 MiB on, which takes a twentieth of its time. A unit here needs up to
# 1 GiB without.
set(THIMBLE_COMPILER_MEMORY "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  cmake_host_system_information(RESULT memory_mib QUERY TOTAL_PHYSICAL_MEMORY)
  cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)
  math(EXPR memory_mib "${memory_mib} / ${processors}")
  if(memory_mib GREATER 2000)
    set(THIMBLE_COMPILER_MEMORY --param=ggc-min-heapsize=2000000)
  endif()
endif()

# thimble_settings(TARGET): warnings, sanitizers, deterministic floating point, sections to link by.
function(thimble_settings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic
    # Designated initializers leave fields at their defaults on purpose.
    -Wno-missing-field-initializers
    # Contraction would make results depend on the compiler's choice; kernels use explicit FMA.
    -ffp-contract=off
    -ffunction-sections -fdata-sections ${THIMBLE_COMPILER_MEMORY}
    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
    $<$<BOOL:${THIMBLE_WERROR}>:-Werror>)
  target_link_options(${target} PRIVATE ${THIMBLE_LINK_OPTIONS})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${THIMBLE_TEXT_ORDER})
  if(THIMBLE_SANITIZE)
    list(JOIN THIMBLE_SANITIZE "," sanitizers)
    target_compile_options(${target} PRIVATE -fsanitize=${sanitizers} -fno-omit-frame-pointer
      -fno-sanitize-recover=all)
    if("address" IN_LIST THIMBLE_SANITIZE AND "undefined" IN_LIST THIMBLE_SANITIZE)
      # The address sanitizer stops at null pointers and behind objects, too. These checks take a quarter
      # of the time of compiling. Kernels and readers get some of them back (src/CMakeLists.txt).
      target_compile_options(${target} PRIVATE
        -fno-sanitize=alignment,null,object-size,pointer-overflow,vptr)
    endif()
    target_link_options(${target} PRIVATE -fsanitize=${sanitizers})
  endif()
endfunction()

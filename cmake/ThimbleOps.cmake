# Finds the op folders. An op is a folder src/ops/<op>/ that holds an op.cpp; nothing else names it.
#   op.h      public header: attributes and builder functions  -> <thimble/ops/<op>.h>
#             that of an optimizer, whose op.cpp says THIMBLE_OPTIMIZER_FOLDER: its settings, in
#             <thimble/optimizers.h> too
#   op.cpp    definition;  simd.cpp  fast kernel;  test.cpp  table of tests
# What users call that is more than one op, such as a layer, is a THIMBLE_FUNCTION_FOLDER in a
# function.cpp, or in op.cpp where the folder has many files.
# The generated table has no static constructors: linkers drop those from static libraries.
file(GLOB THIMBLE_OP_FILES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/*/op.cpp)
file(GLOB THIMBLE_OP_SIMD_FILES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/*/simd.cpp)
file(GLOB THIMBLE_OP_FUNCTION_FILES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/*/function.cpp)
file(GLOB THIMBLE_OP_TEST_FILES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/*/test.cpp)
set(THIMBLE_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)
set(THIMBLE_GENERATED_INCLUDE_DIR ${THIMBLE_GENERATED_DIR}/include)

set(declarations "")
set(entries "")
set(includes "")
set(optimizer_includes "")
set(function_declarations "")
set(function_entries "")
foreach(op_file IN LISTS THIMBLE_OP_FILES)
  get_filename_component(op_dir ${op_file} DIRECTORY)
  get_filename_component(op ${op_dir} NAME)
  string(APPEND declarations
    "namespace ${op}_impl {\nstd::span<const ir::OpDef* const> op_folder();\n}\n")
  string(APPEND entries "    ${op}_impl::op_folder(),\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${op_file})
  file(STRINGS ${op_file} functions REGEX "^THIMBLE_FUNCTION_FOLDER")
  if(functions OR EXISTS ${op_dir}/function.cpp)
    string(APPEND function_declarations
      "namespace ${op}_impl {\nstd::span<const ir::FunctionDef* const> function_folder();\n}\n")
    string(APPEND function_entries "    ${op}_impl::function_folder(),\n")
  endif()
  if(EXISTS ${op_dir}/op.h)
    configure_file(${op_dir}/op.h ${THIMBLE_GENERATED_INCLUDE_DIR}/thimble/ops/${op}.h COPYONLY)
    set(include_line "#include <thimble/ops/${op}.h>  // IWYU pragma: export\n")
    string(APPEND includes "${include_line}")
    file(STRINGS ${op_file} optimizers REGEX "^THIMBLE_OPTIMIZER_FOLDER")
    if(optimizers)
      string(APPEND optimizer_includes "${include_line}")
    endif()
  endif()
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/cmake/op_table.cpp.in ${THIMBLE_GENERATED_DIR}/op_table.cpp @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/cmake/ops.h.in ${THIMBLE_GENERATED_INCLUDE_DIR}/thimble/ops.h @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/cmake/optimizers.h.in
  ${THIMBLE_GENERATED_INCLUDE_DIR}/thimble/optimizers.h @ONLY)

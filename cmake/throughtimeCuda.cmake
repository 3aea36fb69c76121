# How files of kernels for NVIDIA GPUs are compiled; in this tree, and, installed, in projects with cells of their own.
#
# The toolkit is found by its compiler. CMake's own support for CUDA as a language tries to compile for a GPU of its
# choice at every configuration; here each .cu becomes an object by one plain command, for the GPUs that are named.

# throughtime_add_cuda(TARGET FILE...): compiles FILEs, paths from the current folder, into TARGET. Reads NVCC_PROGRAM,
# THROUGHTIME_CUDA_ARCHITECTURES (machine code for these, PTX of the last) and THROUGHTIME_CUDA_INCLUDES (folders).
function(throughtime_add_cuda target)
  set(flags -std=c++20 -O3 --expt-relaxed-constexpr -Xcompiler=-fPIC,-Wno-missing-field-initializers)
  foreach(folder IN LISTS THROUGHTIME_CUDA_INCLUDES)
    list(APPEND flags -I${folder})
  endforeach()
  foreach(architecture IN LISTS THROUGHTIME_CUDA_ARCHITECTURES)
    list(APPEND flags -gencode=arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  list(GET THROUGHTIME_CUDA_ARCHITECTURES -1 last)
  list(APPEND flags -gencode=arch=compute_${last},code=compute_${last})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/cuda)
  file(MAKE_DIRECTORY ${folder})
  foreach(kernel IN LISTS ARGN)
    string(REPLACE "../" "" name ${kernel})
    string(REPLACE "/" "-" name ${name})
    set(object ${folder}/${name}.o)
    get_filename_component(source ${kernel} ABSOLUTE)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${NVCC_PROGRAM} ${flags} -MD -MF ${object}.d -c ${source} -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d COMMENT "Compiling kernels ${kernel}" VERBATIM)
    target_sources(${target} PRIVATE ${object})
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  endforeach()
endfunction()

# Whether the engine for NVIDIA GPUs is built: THROUGHTIME_HAS_CUDA, and how its kernels are.
#
# The toolkit is found by its compiler. CMake's own support for CUDA as a language tries to compile for a GPU of its
# choice at every configuration; here each .cu becomes an object by one plain command, for the GPUs that are named below.
set(THROUGHTIME_HAS_CUDA FALSE)
set(THROUGHTIME_CUDA_ARCHITECTURES 80 90 CACHE STRING
  "Machine code for these GPUs; later ones compile the PTX of the last when they start")
set(oldest_nvcc 12)

# Sanitizers cannot look into a GPU's driver: those builds have the stub.
if(NOT THROUGHTIME_CUDA OR THROUGHTIME_SANITIZE)
  return()
endif()
find_program(NVCC_PROGRAM nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATH_SUFFIXES bin PATHS /usr/local/cuda)
if(NVCC_PROGRAM)
  execute_process(COMMAND ${NVCC_PROGRAM} --version OUTPUT_VARIABLE nvcc_text ERROR_QUIET)
  string(REGEX MATCH "release ([0-9]+)" nvcc_match "${nvcc_text}")
  set(nvcc_release "${CMAKE_MATCH_1}")
  get_filename_component(cuda_bin ${NVCC_PROGRAM} REALPATH)
  get_filename_component(cuda_root ${cuda_bin} DIRECTORY)
  get_filename_component(cuda_root ${cuda_root} DIRECTORY)
  find_path(CUDA_INCLUDE cuda_runtime_api.h HINTS ${cuda_root}/include ${cuda_root}/targets/x86_64-linux/include)
  set(cuda_libraries ${cuda_root}/lib64 ${cuda_root}/targets/x86_64-linux/lib)
  find_library(CUDART_LIBRARY cudart_static HINTS ${cuda_libraries})
  find_library(CUBLAS_LIBRARY cublas HINTS ${cuda_libraries})
endif()
if(NVCC_PROGRAM AND nvcc_release GREATER_EQUAL oldest_nvcc AND CUDA_INCLUDE AND CUDART_LIBRARY AND CUBLAS_LIBRARY)
  set(THROUGHTIME_HAS_CUDA TRUE)
elseif(THROUGHTIME_CUDA STREQUAL "AUTO")
  message(STATUS "No CUDA engine: it needs nvcc ${oldest_nvcc} or later, the static runtime and cuBLAS")
else()
  message(FATAL_ERROR "THROUGHTIME_CUDA=ON needs nvcc ${oldest_nvcc} or later, the static runtime and cuBLAS")
endif()

# add_cuda_kernels(TARGET): compiles every .cu below src/engine/cuda and links the runtime and cuBLAS.
function(add_cuda_kernels target)
  set(flags -std=c++20 -O3 --expt-relaxed-constexpr -I${CMAKE_SOURCE_DIR}/include -I${CMAKE_SOURCE_DIR}/src
    -Xcompiler=-fPIC,-Wno-missing-field-initializers)
  foreach(architecture ${THROUGHTIME_CUDA_ARCHITECTURES})
    list(APPEND flags -gencode=arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  list(GET THROUGHTIME_CUDA_ARCHITECTURES -1 last)
  list(APPEND flags -gencode=arch=compute_${last},code=compute_${last})
  set(launcher ${CMAKE_CXX_COMPILER_LAUNCHER})
  file(GLOB_RECURSE kernels CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/engine/cuda/*.cu)
  foreach(kernel ${kernels})
    file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR}/src ${kernel})
    string(REPLACE "/" "-" object ${name})
    set(object ${CMAKE_BINARY_DIR}/cuda/${object}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/cuda
      COMMAND ${launcher} ${NVCC_PROGRAM} ${flags} -MD -MF ${object}.d -c ${kernel} -o ${object}
      DEPENDS ${kernel} DEPFILE ${object}.d COMMENT "Compiling kernels ${name}" VERBATIM)
    target_sources(${target} PRIVATE ${object})
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  endforeach()
  target_include_directories(${target} SYSTEM PRIVATE ${CUDA_INCLUDE})
  target_link_libraries(${target} PRIVATE ${CUBLAS_LIBRARY} ${CUDART_LIBRARY} ${CMAKE_DL_LIBS} rt)
endfunction()

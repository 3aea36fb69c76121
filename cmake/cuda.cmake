# Whether the engine for NVIDIA GPUs is built: THROUGHTIME_HAS_CUDA, and how its kernels are.
include(throughtimeCuda)
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

# What a user's .cu needs of the headers in src/, beside include/.
set(cuda_cell_headers device_cell.h context.h numbers.h kernels/turns.cuh)
file(GLOB cuda_cell_templates RELATIVE ${CMAKE_SOURCE_DIR}/src/engine/cuda CONFIGURE_DEPENDS
  ${CMAKE_SOURCE_DIR}/src/engine/cuda/cells/*.cuh)
list(APPEND cuda_cell_headers ${cuda_cell_templates})
set(THROUGHTIME_CUDA_INCLUDES ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)

# add_cuda_kernels(TARGET): compiles every .cu below src/engine/cuda and links the runtime and cuBLAS.
function(add_cuda_kernels target)
  file(GLOB_RECURSE kernels RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/engine/cuda/*.cu)
  throughtime_add_cuda(${target} ${kernels})
  target_include_directories(${target} SYSTEM PRIVATE ${CUDA_INCLUDE})
  target_link_libraries(${target} PRIVATE ${CUBLAS_LIBRARY} ${CUDART_LIBRARY} ${CMAKE_DL_LIBS} rt)
endfunction()

# Headers and the function above, for a project with a cell of its own. Their names begin with engine/cuda as in this tree.
function(install_cuda_cells destination package_directory)
  foreach(header IN LISTS cuda_cell_headers)
    get_filename_component(folder engine/cuda/${header} DIRECTORY)
    install(FILES ${CMAKE_SOURCE_DIR}/src/engine/cuda/${header} DESTINATION ${destination}/${folder})
  endforeach()
  install(FILES ${CMAKE_SOURCE_DIR}/cmake/throughtimeCuda.cmake DESTINATION ${package_directory})
endfunction()

# The build logic: one function per kind of target. Names imply files, so that a chapter is one line.
include_guard(GLOBAL)

if(NOT TILEWISE_MACHINE MATCHES "^(sim|gpu)$")
  message(FATAL_ERROR "TILEWISE_MACHINE is '${TILEWISE_MACHINE}'; it must be sim or gpu.")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
# No NDEBUG: device and host asserts are part of what the lessons show.
set(TILEWISE_OPTIMISATION "-O2" CACHE STRING "How the simulator and the host's code are optimised")
set(CMAKE_CXX_FLAGS_RELEASE "${TILEWISE_OPTIMISATION}")
set(CMAKE_CUDA_FLAGS_RELEASE "-O3")
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra>")
# g++ 13 warns of what it thinks fmt 9 does, in fmt's own headers (Ubuntu 24.04); 12 and 14 do not.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^13\\.")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds;-Wno-stringop-overflow>")
endif()

# tilewise_find(<package> <apt package> <find_package arguments>...)
# find_package with an error message that says what to install.
macro(tilewise_find package apt)
  find_package(${package} QUIET ${ARGN})
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR
      "${package} was not found. On Debian or Ubuntu: apt-get install ${apt}\n"
      "common/scripts/run/setup.sh installs everything that is missing, also with dnf and brew.")
  endif()
endmacro()

# What ordinary C++ in common needs, and the simulator alone.
if(NOT TILEWISE_PYTHON)
  tilewise_find(Eigen3 libeigen3-dev NO_MODULE)
  tilewise_find(CLI11 libcli11-dev)
endif()
tilewise_find(fmt libfmt-dev)
tilewise_find(nlohmann_json nlohmann-json3-dev)
# Which conversions out of JSON compile depends on its version and the compiler's: write get<T>(), which always does.
# What is replaced are the library's own switches, all as they are by default.
set_property(TARGET nlohmann_json::nlohmann_json PROPERTY INTERFACE_COMPILE_DEFINITIONS JSON_USE_IMPLICIT_CONVERSIONS=0)

if(TILEWISE_MACHINE STREQUAL "gpu")
  # The Toolkit's own installer puts nvcc here and leaves PATH alone.
  find_program(TILEWISE_NVCC nvcc PATHS /usr/local/cuda/bin /opt/cuda/bin DOC "nvcc")
  if(TILEWISE_NVCC AND NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    set(CMAKE_CUDA_COMPILER "${TILEWISE_NVCC}" CACHE FILEPATH "The CUDA compiler")
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(NOT CMAKE_CUDA_COMPILER)
    message(FATAL_ERROR
      "nvcc was not found. Install the CUDA Toolkit, 12.0 or newer (https://developer.nvidia.com/cuda-downloads), "
      "put its bin folder on PATH, or use the simulator: MACHINE=sim.")
  endif()
  if(CMAKE_VERSION VERSION_LESS 3.24 AND CMAKE_CUDA_ARCHITECTURES STREQUAL "native")
    message(FATAL_ERROR
      "The preset gpu needs CMake 3.24 or newer, which finds out for itself what GPU is here; this is ${CMAKE_VERSION}. "
      "Install a newer one (python3 -m pip install cmake), or say which GPU: "
      "cmake --preset gpu -DCMAKE_CUDA_ARCHITECTURES=75 is for compute capability 7.5.")
  endif()
  enable_language(CUDA)
  # CMake 3.25.1 (Debian 12) does not know yet that nvcc 12 and newer compile C++20.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  tilewise_find(CUDAToolkit nvidia-cuda-toolkit 12.0)
  # NCCL is no part of the Toolkit. Programs do without it where it isn't: they say which rows they skip.
  find_path(TILEWISE_NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} DOC "The folder of nccl.h")
  find_library(TILEWISE_NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR} DOC "NCCL's library")
  add_library(CUDA::nccl INTERFACE IMPORTED)
  if(TILEWISE_NCCL_INCLUDE_DIR AND TILEWISE_NCCL_LIBRARY)
    target_include_directories(CUDA::nccl INTERFACE "${TILEWISE_NCCL_INCLUDE_DIR}")
    target_link_libraries(CUDA::nccl INTERFACE "${TILEWISE_NCCL_LIBRARY}")
  else()
    message(STATUS "NCCL was not found: lesson 16 does without it. On Debian or Ubuntu, from NVIDIA's repository: apt-get install libnccl-dev")
    target_compile_definitions(CUDA::nccl INTERFACE TILEWISE_NO_NCCL)
  endif()
  add_compile_options(
    "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;--extended-lambda;-lineinfo;-Xcompiler=-Wall,-Wextra>")
  if(TILEWISE_CHECK_SPILLS)
    add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=-v>")
    # Nothing of it runs: the host's half of each file needn't be fast. (Kernels are optimised whatever this says.)
    set(CMAKE_CXX_FLAGS_RELEASE "-O0")
    set(CMAKE_CUDA_FLAGS_RELEASE "-O0")
    set(CMAKE_CUDA_COMPILER_LAUNCHER "${PROJECT_SOURCE_DIR}/common/cmake/keep-ptxas-log.sh")
  endif()
else()
  set(Boost_USE_STATIC_LIBS ON)  # a fiber switch takes 16 ns: no detour through a shared library's table
  find_package(Boost QUIET CONFIG COMPONENTS context)
  if(NOT Boost_FOUND)  # not every distribution has the static one
    set(Boost_USE_STATIC_LIBS OFF)
    tilewise_find(Boost libboost-context-dev CONFIG COMPONENTS context)
  endif()
endif()

if(TILEWISE_TESTS AND NOT TILEWISE_PYTHON)
  tilewise_find(Catch2 catch2)
endif()

# tilewise_glob(<variable> <pattern>...): files that match now, looked at again in every build.
function(tilewise_glob variable)
  file(GLOB files CONFIGURE_DEPENDS LIST_DIRECTORIES false ${ARGN})
  list(SORT files)
  set(${variable} ${files} PARENT_SCOPE)
endfunction()

# tilewise_compile_together(<target>)
# All its files in one: reading their headers once halves what a first build takes. TILEWISE_TOGETHER=OFF for who works
# on them and compiles one file again and again.
option(TILEWISE_TOGETHER "Compile the simulator and the grader as one file each" ON)
function(tilewise_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TILEWISE_TOGETHER} UNITY_BUILD_BATCH_SIZE 0)
endfunction()

# tilewise_program(<name> SOURCES <.cu and .cpp files>... [INCLUDES <folder>...] [LIBRARIES <target>...] [NO_MATRICES])
# An executable in bin/. Its .cu files go through nvcc, or through simcc when the machine is the simulator.
function(tilewise_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_MATRICES" "" "SOURCES;INCLUDES;SYSTEM_INCLUDES;LIBRARIES")
  if(TILEWISE_MACHINE STREQUAL "sim")
    set(sources)
    foreach(source IN LISTS arg_SOURCES)
      if(source MATCHES "\\.cu$")
        tilewise_simcc_object(object "${name}" "${source}" "${arg_INCLUDES}" "${arg_SYSTEM_INCLUDES}")
        list(APPEND sources "${object}")
      else()
        list(APPEND sources "${source}")
      endif()
    endforeach()
    add_executable(${name} ${sources})
    # The simulator names functions in its messages: export them (-rdynamic).
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX ENABLE_EXPORTS ON)
  else()
    add_executable(${name} ${arg_SOURCES})
  endif()
  target_include_directories(${name} PRIVATE ${arg_INCLUDES})
  target_include_directories(${name} SYSTEM PRIVATE ${arg_SYSTEM_INCLUDES})
  if(NOT arg_NO_MATRICES)
    target_link_libraries(${name} PRIVATE tilewise_matrices)
  endif()
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} tilewise_common)
endfunction()

# Sets <variable> to the object file that simcc makes of one .cu file.
function(tilewise_simcc_object variable target source includes system_includes)
  cmake_path(GET source STEM LAST_ONLY stem)
  set(object "${CMAKE_CURRENT_BINARY_DIR}/${target}.dir/${stem}.cu.o")
  list(TRANSFORM includes PREPEND "-I")
  list(TRANSFORM system_includes PREPEND "-isystem")
  set(flags -std=c++20 -Wall -Wextra)
  set(prelude)
  if(target MATCHES "^test_")
    list(APPEND flags -g1)  # files and lines, no variables: a quarter of the time less
    list(APPEND flags --prelude "${PROJECT_BINARY_DIR}/preludes/tests")  # and with Catch2 compiled already: see tests/CMakeLists.txt
    set(prelude test_prelude "${PROJECT_SOURCE_DIR}/tests/catch.hpp")
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    list(APPEND flags -O0 -g)
  endif()
  file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/${target}.dir")
  tilewise_glob(simulator_headers "${PROJECT_SOURCE_DIR}/common/simulator/include/*"
                                  "${PROJECT_SOURCE_DIR}/common/simulator/include/*/*")
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE shown)
  add_custom_command(
    OUTPUT "${object}"
    COMMAND simcc ${flags} "-DTILEWISE_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"" "-I${PROJECT_SOURCE_DIR}/common/include" ${includes} ${system_includes}
            -MMD -MF "${object}.d" -c "${source}" -o "${object}"
    DEPENDS simcc preludes ${prelude} "${source}" ${simulator_headers}
    DEPFILE "${object}.d"
    COMMENT "simcc ${shown}"
    COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set(${variable} "${object}" PARENT_SCOPE)
endfunction()

# tilewise_tests(<name> LABEL <label> SOURCES <files>... [...as tilewise_program])
# A Catch2 program and its line in ctest; with APART <tag> two lines, one for its tests with that tag, so that two cores share them. Tests with
# the tag [.all] are for `make test-all`. Exit code 77 means skipped.
function(tilewise_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;APART" "SOURCES;INCLUDES;LIBRARIES")
  if(NOT arg_SOURCES)
    return()
  endif()
  tilewise_program(${name}
    SOURCES ${arg_SOURCES}
    INCLUDES ${arg_INCLUDES} "${PROJECT_SOURCE_DIR}/tests"
    SYSTEM_INCLUDES ${TILEWISE_CATCH2_INCLUDES}
    LIBRARIES ${arg_LIBRARIES} tilewise_test_main)
  tilewise_for_test_architectures(${name})
  tilewise_test(${name} "${arg_LABEL}" ${arg_APART})
endfunction()

# tilewise_test(<name> <label> [<tag>]): the line in ctest of a Catch2 program, and how its C++ is compiled.
function(tilewise_test name label)
  target_compile_definitions(${name} PRIVATE TILEWISE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-O0>")  # what takes time is compiling them
  get_target_property(sources ${name} SOURCES)
  if(TILEWISE_MACHINE STREQUAL "sim" AND "${sources}" MATCHES "\\.cpp(;|$)")
    target_precompile_headers(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests/catch.hpp")  # half of what each of them would take
  endif()
  set(runs ${name})
  if(ARGN)
    add_test(NAME ${name} COMMAND ${name} ${TILEWISE_CATCH2_NO_TESTS} "~[${ARGN}]~[all]")
    add_test(NAME ${name}_${ARGN} COMMAND ${name} ${TILEWISE_CATCH2_NO_TESTS} "[${ARGN}]~[all]")
    list(APPEND runs ${name}_${ARGN})
  else()
    add_test(NAME ${name} COMMAND ${name} ${TILEWISE_CATCH2_NO_TESTS})
  endif()
  set(labels "${label}")
  if(label MATCHES "^(common|[0-9][0-9]_.*)$")
    add_dependencies(lesson_tests ${name})
  else()
    list(APPEND labels tools)
    add_dependencies(tool_tests ${name})
  endif()
  set_tests_properties(${runs} PROPERTIES LABELS "${labels}" SKIP_RETURN_CODE 77)
endfunction()

# tilewise_cuda_libraries(<variable> <library>...): the targets of libraries such as cublas and cusparse. On a GPU they are
# the CUDA Toolkit's, on the simulator the CPU's versions of them (common/simulator/libraries).
function(tilewise_cuda_libraries variable)
  set(targets ${ARGN})
  list(TRANSFORM targets PREPEND "CUDA::")
  foreach(target IN LISTS targets)
    if(NOT TARGET ${target})
      message(FATAL_ERROR "${target} was not found. On a GPU it comes with the CUDA Toolkit; the simulator has what is in "
                          "common/simulator/libraries.")
    endif()
  endforeach()
  set(${variable} ${targets} PARENT_SCOPE)
endfunction()

# tilewise_nvcc_options(<target> <option>...): for nvcc alone; simcc has no use for them.
function(tilewise_nvcc_options target)
  if(NOT TILEWISE_MACHINE STREQUAL "sim")
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${ARGN}>")
  endif()
endfunction()

# tilewise_for_test_architectures(<target>): what is compiled to see that nvcc takes it, and is no lesson, may do with fewer architectures: reading a
# file once more for each takes most of the time.
function(tilewise_for_test_architectures target)
  if(TILEWISE_TEST_ARCHITECTURES AND NOT TILEWISE_MACHINE STREQUAL "sim")
    set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${TILEWISE_TEST_ARCHITECTURES}")
  endif()
endfunction()

# tilewise_for_hopper(<target>): wgmma and TMA need machine code for exactly compute capability 9.0, which nvcc calls 90a; CMake's `native`
# says 90. Other architectures stay as they are.
function(tilewise_for_hopper target)
  if(NOT TILEWISE_MACHINE STREQUAL "sim")
    set(architectures "${CMAKE_CUDA_ARCHITECTURES}")
    if(architectures STREQUAL "native")
      set(architectures "${CMAKE_CUDA_ARCHITECTURES_NATIVE}")
    endif()
    list(TRANSFORM architectures REPLACE "^90(-|$)" "90a\\1")
    set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${architectures}")
  endif()
endfunction()

# add_chapter(<NN_topic> [LIBRARIES cublas|cusparse...] [NO_MATRICES] [HOPPER] [NVCC_OPTIONS <option>...]): the lesson program bin/NN_topic, and its
# tests in bin/test_NN_topic, both linked with those libraries. NO_MATRICES: the lesson needs no reference and no sparse matrix. HOPPER: it has
# kernels with wgmma and TMA.
function(add_chapter name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_MATRICES;HOPPER" "" "LIBRARIES;NVCC_OPTIONS")
  set(no_matrices)
  if(arg_NO_MATRICES)
    set(no_matrices NO_MATRICES)
  endif()
  set(folder "${PROJECT_SOURCE_DIR}/chapters/${name}")
  if(NOT EXISTS "${folder}/main.cu")
    message(FATAL_ERROR "add_chapter(${name}): there is no chapters/${name}/main.cu.")
  endif()
  tilewise_cuda_libraries(libraries ${arg_LIBRARIES})
  tilewise_program(${name} SOURCES "${folder}/main.cu" INCLUDES "${folder}" LIBRARIES ${libraries} ${no_matrices})
  tilewise_nvcc_options(${name} ${arg_NVCC_OPTIONS})
  if(arg_HOPPER)
    tilewise_for_hopper(${name})
  endif()
  if(EXISTS "${folder}/tune.cu")  # built when it is asked for: it has many kernels
    tilewise_program(tune_${name} SOURCES "${folder}/tune.cu" INCLUDES "${folder}" LIBRARIES ${libraries} ${no_matrices})
    tilewise_nvcc_options(tune_${name} ${arg_NVCC_OPTIONS})
    set_target_properties(tune_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  # plain.cu is compiled by itself (common/scripts/run/plain.sh); here only to see that nvcc takes it for all architectures.
  if(TILEWISE_CHECK_SPILLS AND EXISTS "${folder}/plain.cu" AND (TILEWISE_NCCL_LIBRARY OR NOT "nccl" IN_LIST arg_LIBRARIES))
    add_executable(plain_${name} "${folder}/plain.cu")
    target_link_libraries(plain_${name} PRIVATE ${libraries})
    tilewise_nvcc_options(plain_${name} ${arg_NVCC_OPTIONS})
    tilewise_for_test_architectures(plain_${name})
  endif()
  set_property(GLOBAL APPEND PROPERTY TILEWISE_CHAPTERS ${name})
  set_property(GLOBAL PROPERTY TILEWISE_LIBRARIES_${name} ${libraries})
  set_property(GLOBAL PROPERTY TILEWISE_NVCC_OPTIONS_${name} ${arg_NVCC_OPTIONS})
  set_property(GLOBAL PROPERTY TILEWISE_HOPPER_${name} ${arg_HOPPER})
endfunction()

# Fails the build when a chapter kernel spills registers, and writes ptxas.txt: registers and shared memory per kernel.
function(tilewise_check_spills)
  get_property(chapters GLOBAL PROPERTY TILEWISE_CHAPTERS)
  if(NOT chapters)
    return()
  endif()
  add_custom_target(spills ALL
    COMMAND "${PROJECT_SOURCE_DIR}/common/cmake/check-spills.sh" "${PROJECT_BINARY_DIR}" ${chapters}
    DEPENDS ${chapters}
    COMMENT "Register spills in chapter kernels"
    VERBATIM)
endfunction()

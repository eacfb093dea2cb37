# What every target of the project is compiled with.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Source trees in other folders, such as an unpacked sdist, share what has been compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
endif()
if(CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
endif()

# Exact results on every compiler and processor: no fused multiply-add behind our back.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
# Messages name files as the source tree does, not as the build machine does.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>)

if(TILEWAVE_SANITIZE)
  add_compile_options(
    "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${TILEWAVE_SANITIZE};-fno-sanitize-recover=all>"
    "$<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer;-g>")
  add_link_options(-fsanitize=${TILEWAVE_SANITIZE})
endif()

if(TILEWAVE_COVERAGE)
  # Threads share the counters.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:--coverage;-fprofile-update=atomic>")
  add_link_options(--coverage)
endif()

# tilewave_library(NAME SOURCES ... [LINK ...]): one library per folder, tilewave::NAME.
function(tilewave_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;LINK_PRIVATE" ${ARGN})
  add_library(tilewave_${name} STATIC ${ARG_SOURCES})
  add_library(tilewave::${name} ALIAS tilewave_${name})
  target_include_directories(tilewave_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(tilewave_${name} PUBLIC ${ARG_LINK} PRIVATE ${ARG_LINK_PRIVATE})
  tilewave_warnings(tilewave_${name})
endfunction()

function(tilewave_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                           -Wnon-virtual-dtor -Woverloaded-virtual)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # False alarms on "literal" + std::string, GCC bug 105651.
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(TILEWAVE_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

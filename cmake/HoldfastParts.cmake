# SPDX-License-Identifier: Apache-2.0
# Libraries beside the core one, for those who want them: holdfast::probe, what about servers endangers locks; and
# holdfast::testing, servers for tests, and `local:` URLs. The core neither links them nor knows that there are any.
set(HOLDFAST_PARTS probe testing)

function(holdfast_part name)
  set(target holdfast_${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS src/${name}/*.cpp)
  add_library(${target} ${sources})
  add_library(holdfast::${name} ALIAS ${target})
  # Without Boost, of which the system may have another version: what of that got in, the linker might take for ours.
  target_link_libraries(${target} PUBLIC holdfast PRIVATE $<BUILD_INTERFACE:holdfast_flags> Threads::Threads)
  target_include_directories(${target} PRIVATE src)
  set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} POSITION_INDEPENDENT_CODE ON
                        DEFINE_SYMBOL "" EXPORT_NAME ${name} OUTPUT_NAME holdfast-${name} INSTALL_RPATH "$ORIGIN")
  holdfast_hide_symbols(${target})
  holdfast_harden(${target})
  if(HOLDFAST_UNITY)
    holdfast_unity(${target} 12)
  endif()
  # Inside another project it is built when something links it.
  if(NOT HOLDFAST_INSTALL)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()

foreach(part IN LISTS HOLDFAST_PARTS)
  holdfast_part(${part})
endforeach()

# The test kit's server is the model that the suites compare with real ones: the same files, so that the comparison is
# of what users get, compiled once.
file(GLOB kit_model CONFIGURE_DEPENDS tests/sim/model/*.cpp)
add_library(holdfast_model OBJECT EXCLUDE_FROM_ALL ${kit_model})
target_link_libraries(holdfast_model PRIVATE holdfast_flags)
target_include_directories(holdfast_model PRIVATE include src tests)
set_target_properties(holdfast_model PROPERTIES POSITION_INDEPENDENT_CODE ON)
holdfast_hide_symbols(holdfast_model)
holdfast_harden(holdfast_model)
if(HOLDFAST_UNITY)
  holdfast_unity(holdfast_model 12)
endif()
target_sources(holdfast_testing PRIVATE $<TARGET_OBJECTS:holdfast_model>)
target_include_directories(holdfast_testing PRIVATE tests)

# What a probe reads with, and the server of the test kit, is not offered by a shared library, so there they take along
# what they need of the rooms that they may include.
if(holdfast_library_type STREQUAL "SHARED_LIBRARY")
  file(GLOB words CONFIGURE_DEPENDS src/base/*.cpp src/kinds/*.cpp src/redis/decide/*.cpp)
  list(FILTER words EXCLUDE REGEX "/base/(error|clock_hand).cpp$")  # which the library does offer
  add_library(holdfast_probe_words STATIC EXCLUDE_FROM_ALL ${words} ${HOLDFAST_SYSTEM_CPP} ${HOLDFAST_SCRIPTS_CPP})
  target_compile_features(holdfast_probe_words PRIVATE cxx_std_20)
  target_include_directories(holdfast_probe_words PRIVATE include src)
  target_link_libraries(holdfast_probe_words PRIVATE holdfast_flags)
  set_target_properties(holdfast_probe_words PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                        VISIBILITY_INLINES_HIDDEN ON)
  holdfast_harden(holdfast_probe_words)
  target_link_libraries(holdfast_probe PRIVATE $<BUILD_INTERFACE:holdfast_probe_words>)
  target_link_libraries(holdfast_testing PRIVATE $<BUILD_INTERFACE:holdfast_probe_words>)
endif()

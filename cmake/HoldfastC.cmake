# SPDX-License-Identifier: Apache-2.0
# The library for C and for other languages: <holdfast.h>. Always a shared one, as they load it; with a static libholdfast it
# has that inside, and all that a program sees is what begins with hf_.
set(holdfast_c_map "${PROJECT_SOURCE_DIR}/cmake/holdfast-c.map")
file(GLOB sources CONFIGURE_DEPENDS src/c/*.cpp)
add_library(holdfast_c SHARED ${sources})
add_library(holdfast::c ALIAS holdfast_c)
target_link_libraries(holdfast_c PRIVATE $<BUILD_INTERFACE:holdfast_json> $<BUILD_INTERFACE:holdfast_probe>
                      $<BUILD_INTERFACE:holdfast> $<BUILD_INTERFACE:holdfast_flags> Threads::Threads)
target_include_directories(holdfast_c INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                           PRIVATE src)
set_target_properties(holdfast_c PROPERTIES VERSION ${PROJECT_VERSION} DEFINE_SYMBOL "" EXPORT_NAME c OUTPUT_NAME holdfast-c
                      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH "$ORIGIN"
                      CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON LINK_DEPENDS "${holdfast_c_map}")
# Never unloaded: its threads, and those of the program that wait in it, would go on in nothing.
target_link_options(holdfast_c PRIVATE "LINKER:--version-script=${holdfast_c_map}" LINKER:-z,nodelete)
if(holdfast_library_type STREQUAL "SHARED_LIBRARY")
  target_link_libraries(holdfast_c PRIVATE $<BUILD_INTERFACE:holdfast_probe_words>)
endif()
holdfast_harden(holdfast_c)
if(HOLDFAST_UNITY)
  holdfast_unity(holdfast_c 12)
endif()
if(HOLDFAST_STANDALONE_C)
  target_link_options(holdfast_c PRIVATE -static-libstdc++ -static-libgcc)
endif()

# SPDX-License-Identifier: Apache-2.0
# What makes an error of memory harder to exploit, in every optimised build of what is installed: whoever builds it, by
# whatever way, gets what Debian's own packages have. Programs lie at random addresses (PIE), what the linker fills in is
# read-only before main() (RELRO, and BIND_NOW, so that it is all filled in), functions notice when their stack was
# overwritten, and the C library's functions when a buffer is too small. Off with a sanitizer, which does its own.
# What it costs: docs/installing.md.
option(HOLDFAST_HARDEN "Harden what is installed" ON)
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)

string(TOUPPER "${CMAKE_BUILD_TYPE}" holdfast_build_type)
set(holdfast_optimised OFF)
if("${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${holdfast_build_type}}" MATCHES "-O[123s]( |$)")
  set(holdfast_optimised ON)
endif()

function(holdfast_harden target)
  if(NOT HOLDFAST_HARDEN OR HOLDFAST_SANITIZE OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR holdfast_build_type STREQUAL "DEBUG")
    return()
  endif()
  target_compile_options(${target} PRIVATE -fstack-protector-strong)
  # Without optimisation the C library only says that it cannot.
  if(holdfast_optimised)
    target_compile_options(${target} PRIVATE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  endif()
  target_link_options(${target} PRIVATE LINKER:-z,relro LINKER:-z,now)
  get_target_property(type ${target} TYPE)
  # A program that is linked statically as a whole has an address of its own.
  if(type STREQUAL "EXECUTABLE" AND NOT CMAKE_EXE_LINKER_FLAGS MATCHES "-static( |$)")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
endfunction()

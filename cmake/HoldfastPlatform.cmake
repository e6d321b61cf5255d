# SPDX-License-Identifier: Apache-2.0
# What is not supported refuses to configure, and says why. As a script it only does that: cmake -D... -P this file.

function(holdfast_refuse reason)
  message(FATAL_ERROR "Holdfast cannot be built here: ${reason}. What has been tried, and how: docs/platforms.md")
endfunction()

if(WIN32)
  holdfast_refuse("Windows has no POSIX sockets, signals and poll, on which it is built")
endif()
if(CMAKE_SIZEOF_VOID_P AND NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
  holdfast_refuse("the target has pointers of ${CMAKE_SIZEOF_VOID_P} bytes; only 64 bits have been tried")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  holdfast_refuse("g++ ${CMAKE_CXX_COMPILER_VERSION} lacks parts of C++20; g++ 12 or later is needed")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16)
  holdfast_refuse("clang ${CMAKE_CXX_COMPILER_VERSION} lacks parts of C++20; clang 16 or later is needed")
endif()
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" AND (HOLDFAST_TOOL OR HOLDFAST_TESTS))
  holdfast_refuse("the tool and the tests need Linux, not ${CMAKE_SYSTEM_NAME}; for the library alone add -DHOLDFAST_TOOL=OFF -DHOLDFAST_TESTS=OFF")
endif()

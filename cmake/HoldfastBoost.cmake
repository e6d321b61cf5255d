# SPDX-License-Identifier: Apache-2.0
# Finds the headers of Boost 1.91 or later and defines the target holdfast_boost. Looked for, in this order:
# HOLDFAST_BOOST_INCLUDE, the copy that tools/setup unpacks into the build tree, the system's own headers.
set(HOLDFAST_BOOST_MINIMUM 109100)

function(holdfast_boost_version folder result)
  set(${result} 0 PARENT_SCOPE)
  if(EXISTS "${folder}/boost/version.hpp")
    file(STRINGS "${folder}/boost/version.hpp" line REGEX "^#define BOOST_VERSION [0-9]+")
    string(REGEX MATCH "[0-9]+" number "${line}")
    set(${result} "${number}" PARENT_SCOPE)
  endif()
endfunction()

set(holdfast_boost_folders "")
if(HOLDFAST_BOOST_INCLUDE)
  list(APPEND holdfast_boost_folders "${HOLDFAST_BOOST_INCLUDE}")
endif()
list(APPEND holdfast_boost_folders "${CMAKE_CURRENT_SOURCE_DIR}/build/deps/boost/usr/include" /usr/local/include
     /usr/include)

set(holdfast_boost_found "")
foreach(folder IN LISTS holdfast_boost_folders)
  holdfast_boost_version("${folder}" version)
  if(version GREATER_EQUAL HOLDFAST_BOOST_MINIMUM AND NOT holdfast_boost_found)
    set(holdfast_boost_found "${folder}")
    set(HOLDFAST_BOOST_VERSION "${version}")
    message(STATUS "Boost headers: ${folder} (${version})")
  endif()
endforeach()
if(NOT holdfast_boost_found)
  message(FATAL_ERROR "Boost 1.91 or later was not found. Run tools/setup on Debian, or point to the folder that holds "
                      "boost/version.hpp with -DHOLDFAST_BOOST_INCLUDE=/path/to/include. Only headers are needed.")
endif()

add_library(holdfast_boost INTERFACE)
target_include_directories(holdfast_boost SYSTEM INTERFACE "${holdfast_boost_found}")
target_compile_definitions(holdfast_boost INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_SEPARATE_COMPILATION
                           BOOST_ALLOW_DEPRECATED)

# How Asio is compiled decides what its symbols are called. Those of a static library meet the program's: in a namespace
# of its version, Asio is not taken for another version that the program uses by itself. Who includes async.hpp compiles
# Asio in the same way; and does not bring a compiled part of his own, for it would share the functions of ours but not
# their static data: a signal_set would wait in vain. A shared library keeps all of this to itself.
set(holdfast_async_definitions "")
if(NOT BUILD_SHARED_LIBS)
  set(holdfast_async_definitions BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_ENABLE_VERSION_NAMESPACE)
endif()
target_compile_definitions(holdfast_boost INTERFACE ${holdfast_async_definitions})

# Boost.JSON, compiled once: for the tool, the library for C and the tests. The library does without it.
add_library(holdfast_boost_json STATIC EXCLUDE_FROM_ALL "${CMAKE_CURRENT_LIST_DIR}/boost_json.cpp")
target_compile_features(holdfast_boost_json PUBLIC cxx_std_20)
target_link_libraries(holdfast_boost_json PUBLIC holdfast_boost PRIVATE holdfast_flags)
set_target_properties(holdfast_boost_json PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                      VISIBILITY_INLINES_HIDDEN ON)

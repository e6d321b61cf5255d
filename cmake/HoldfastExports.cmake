# SPDX-License-Identifier: Apache-2.0
# Of a shared library users see what HOLDFAST_EXPORT marks, and nothing else: no symbol of Boost may meet their own.
get_target_property(holdfast_library_type holdfast TYPE)

function(holdfast_hide_symbols target)
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  # Asio's headers, and the standard library's, mark their symbols as visible whatever the compiler is told; the linker
  # takes them back.
  if(holdfast_library_type STREQUAL "SHARED_LIBRARY" AND UNIX AND NOT APPLE)
    set(map "${PROJECT_SOURCE_DIR}/cmake/holdfast.map")
    target_link_options(${target} PRIVATE "LINKER:--version-script=${map}")
    set_property(TARGET ${target} PROPERTY LINK_DEPENDS "${map}")
  endif()
endfunction()

holdfast_hide_symbols(holdfast)

# Of a shared library users see what HOLDFAST_EXPORT marks, and nothing else: no symbol of Boost may meet their own.
set_target_properties(holdfast PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)

# Asio's headers, and the standard library's, mark their symbols as visible whatever the compiler is told; the linker
# takes them back.
get_target_property(holdfast_library_type holdfast TYPE)
if(holdfast_library_type STREQUAL "SHARED_LIBRARY" AND UNIX AND NOT APPLE)
  target_link_options(holdfast PRIVATE "LINKER:--version-script=${CMAKE_CURRENT_LIST_DIR}/holdfast.map")
  set_property(TARGET holdfast PROPERTY LINK_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/holdfast.map")
endif()

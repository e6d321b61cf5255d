# SPDX-License-Identifier: Apache-2.0
# A lean tool. Most of what a short run costs is spent before main(), on finding libraries and what they have in common: so
# the tool has the C++ libraries in itself, and OpenSSL, which most runs do not need, is loaded with the first connection
# that does. It is still the system's. Why so, and what it gains: decision 30 in docs/why/tool.md.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LINK_OPTIONS -static-libstdc++ -static-libgcc LINKER:--as-needed)
check_cxx_source_compiles("#include <string>\nint main(int argc, char**) { return std::string(argc, '.').size() == 0; }"
                          HOLDFAST_CAN_BE_LEAN)
unset(CMAKE_REQUIRED_LINK_OPTIONS)

# A shared library of ours brings the others along, and a static OpenSSL is in the tool anyway.
set(lean "${HOLDFAST_CAN_BE_LEAN}")
if(HOLDFAST_STATIC_TOOL OR HOLDFAST_SANITIZE OR holdfast_library_type STREQUAL "SHARED_LIBRARY" OR NOT OPENSSL_SSL_LIBRARY MATCHES "\\.so$"
   OR OPENSSL_VERSION VERSION_LESS 3 OR OPENSSL_VERSION VERSION_GREATER_EQUAL 4)
  set(lean OFF)
endif()
option(HOLDFAST_LEAN_TOOL "The tool has the C++ libraries in itself, and loads OpenSSL when it needs it" "${lean}")

if(HOLDFAST_LEAN_TOOL)
  target_link_libraries(holdfast_tool PRIVATE fmt::fmt-header-only ${CMAKE_DL_LIBS})
  target_sources(holdfast_tool PRIVATE openssl_later.cpp)
  set_source_files_properties(openssl_later.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS -fvisibility=hidden)
  target_link_options(holdfast_tool PRIVATE -static-libstdc++ -static-libgcc LINKER:--as-needed)
elseif(HOLDFAST_STATIC_TOOL)
  target_link_libraries(holdfast_tool PRIVATE fmt::fmt-header-only)
  target_link_options(holdfast_tool PRIVATE -static LINKER:--gc-sections)
else()
  target_link_libraries(holdfast_tool PRIVATE fmt::fmt)
endif()

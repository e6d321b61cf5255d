# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: headers, the library and those beside it, a CMake package (find_package(holdfast),
# target holdfast::holdfast, and components), pkg-config files, the license and the documents with the least ACL. What belongs to the tool is in src/cli. Everything
# is relative to the prefix, so it can be moved.
include(CMakePackageConfigHelpers)

set(holdfast_package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/holdfast")

list(TRANSFORM HOLDFAST_PARTS PREPEND holdfast_ OUTPUT_VARIABLE holdfast_part_targets)
install(TARGETS holdfast ${holdfast_part_targets} EXPORT holdfastTargets
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library NAMELINK_COMPONENT development
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
if(HOLDFAST_C)
  install(TARGETS holdfast_c EXPORT holdfastTargets
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library NAMELINK_COMPONENT development)
  install(FILES include/holdfast.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development)
endif()
install(DIRECTORY include/holdfast DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development
        FILES_MATCHING PATTERN "*.hpp")
install(EXPORT holdfastTargets NAMESPACE holdfast:: DESTINATION "${holdfast_package_folder}" COMPONENT development)

if(holdfast_library_type STREQUAL "STATIC_LIBRARY")
  # A static library leaves it to its user to link what it stands on.
  set(holdfast_dependencies "find_dependency(OpenSSL)\nfind_dependency(Threads)")
  set(holdfast_requires "openssl")
  set(holdfast_libs "-pthread")
elseif(HOLDFAST_TOOL)
  # So that the tool finds the library beside it, wherever the prefix is.
  file(RELATIVE_PATH holdfast_tool_to_library "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(holdfast_tool PROPERTIES INSTALL_RPATH "$ORIGIN/${holdfast_tool_to_library}")
endif()

configure_package_config_file(cmake/holdfastConfig.cmake.in holdfastConfig.cmake
                              INSTALL_DESTINATION "${holdfast_package_folder}"
                              NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before 1.0 a minor version may break its users.
write_basic_package_version_file(holdfastConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/holdfastConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/holdfastConfigVersion.cmake"
        DESTINATION "${holdfast_package_folder}" COMPONENT development)

file(RELATIVE_PATH holdfast_up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" holdfast_up "${holdfast_up}")
list(TRANSFORM holdfast_async_definitions PREPEND "-D" OUTPUT_VARIABLE holdfast_async_flags)
list(JOIN holdfast_async_flags " " holdfast_async_flags)
math(EXPR holdfast_boost_major "${HOLDFAST_BOOST_VERSION} / 100000")
math(EXPR holdfast_boost_minor "${HOLDFAST_BOOST_VERSION} / 100 % 1000")
math(EXPR holdfast_boost_patch "${HOLDFAST_BOOST_VERSION} % 100")
set(holdfast_boost_words "${holdfast_boost_major}.${holdfast_boost_minor}.${holdfast_boost_patch}")
foreach(name holdfast holdfast-async)
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
endforeach()
if(HOLDFAST_C)
  configure_file(cmake/holdfast-c.pc.in holdfast-c.pc @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/holdfast-c.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
endif()
foreach(part IN LISTS HOLDFAST_PARTS)
  configure_file(cmake/holdfast-part.pc.in holdfast-${part}.pc @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/holdfast-${part}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
endforeach()

# Laid out as here, so that links between them lead somewhere. The tool's package has the pages too: an operator looks
# messages up.
set(holdfast_documented development)
if(HOLDFAST_TOOL)
  list(APPEND holdfast_documented tool)
endif()
foreach(component IN LISTS holdfast_documented)
  install(FILES LICENSE COPYRIGHT README.md CHANGELOG.md SECURITY.md DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT ${component})
  install(FILES bindings/python/README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}/bindings/python" COMPONENT ${component})
  install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT ${component}
          FILES_MATCHING PATTERN "*.md" PATTERN "*.acl" PATTERN "*.svg" PATTERN man EXCLUDE PATTERN evidence EXCLUDE)
  install(DIRECTORY examples ops DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT ${component})
  # What is only for contributors stays in the sources, so it is named without a link.
  install(CODE "set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}\")" COMPONENT ${component})
  install(CODE [==[
    file(GLOB pages "${folder}/*.md" "${folder}/docs/*.md" "${folder}/docs/*/*.md")
    foreach(page IN LISTS pages)
      file(READ "${page}" text)
      string(REGEX REPLACE "\\[([^]]+)\\]\\((\\.\\./)*(CONTRIBUTING|bench/|tests/)[^)]*\\)" "\\1 (in the sources)" text "${text}")
      file(WRITE "${page}" "${text}")
    endforeach()
  ]==] COMPONENT ${component})
endforeach()

# SPDX-License-Identifier: Apache-2.0
# Packages for Debian, by cpack; tools/package makes all of them. A build of static libraries gives the tool, which then
# needs no package of ours, and one of shared libraries gives these, by the name of their SONAME, what is needed to
# compile against them, and Python's modules.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME holdfast)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
# Of the packaging of this version, which the changes in CHANGELOG.md are not of.
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "distributed locks on Redis and Valkey")
set(HOLDFAST_MAINTAINER "The Holdfast project <holdfast@localhost>" CACHE STRING
    "Who makes the packages, NAME <ADDRESS>; tools/package takes it from DEBFULLNAME and DEBEMAIL")
set(CPACK_PACKAGE_CONTACT "${HOLDFAST_MAINTAINER}")
set(HOLDFAST_HOMEPAGE "" CACHE STRING "Where the project is, for the packages; tools/package takes it from HOMEPAGE")
if(HOLDFAST_HOMEPAGE)
  set(CPACK_DEBIAN_PACKAGE_HOMEPAGE "${HOLDFAST_HOMEPAGE}")
endif()
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY OFF)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/debian/finish.cmake")
# For that script: nothing else of ours gets there.
set(CPACK_HOLDFAST_SOURCE "${PROJECT_SOURCE_DIR}")
set(CPACK_HOLDFAST_PACKAGE_tool holdfast)
set(CPACK_HOLDFAST_PACKAGE_library "libholdfast${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
set(CPACK_HOLDFAST_PACKAGE_development libholdfast-dev)
# For another architecture (tools/package --for): the libraries that it has, and what dpkg knows of them.
if(HOLDFAST_CROSS_ROOT)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${HOLDFAST_CROSS_ROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}")
  set(of_that_one "--admindir=${HOLDFAST_CROSS_ROOT}/var/lib/dpkg")
endif()

if(holdfast_library_type STREQUAL "SHARED_LIBRARY")
  set(CPACK_COMPONENTS_ALL library development)
  set(library "${CPACK_HOLDFAST_PACKAGE_library}")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME "${library}")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/cmake/debian/triggers")
  list(APPEND CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}")
  set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "Holdfast is a C++ library for locks across machines. The holder of a lock is
told when it loses it, and waiters are woken by a message. It shares its
locks with Java's Redisson and with the plain locks of other languages.

This package has the shared libraries.")
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME "${CPACK_HOLDFAST_PACKAGE_development}")
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${library} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "redis-server | valkey-server")
  set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Holdfast is a C++ library for locks across machines.

This package has headers, files for CMake and pkg-config, documents, examples,
a dashboard and alerts. Who includes holdfast/async.hpp needs the headers of
Boost besides, of the version that the library was built with.")
  # For the Python of Debian, with the library of the package above. cffi writes what Python has to know of it.
  execute_process(COMMAND /usr/bin/python3 -c "import cffi" RESULT_VARIABLE no_cffi ERROR_QUIET)
  if(HOLDFAST_C AND no_cffi EQUAL 0)
    list(APPEND CPACK_COMPONENTS_ALL python)
    set(CPACK_HOLDFAST_PACKAGE_python python3-holdfast)
    set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME "${CPACK_HOLDFAST_PACKAGE_python}")
    set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
    set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
    set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
        "python3 (>= 3.9), python3-cffi-backend, ${library} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
    set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "redis-server | valkey-server, python3-prometheus-client")
    set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/cmake/debian/python/postinst"
        "${PROJECT_SOURCE_DIR}/cmake/debian/python/prerm")
    set(CPACK_COMPONENT_PYTHON_DESCRIPTION "Holdfast is a library for locks across machines. The holder of a lock is
told when it loses it, and waiters are woken by a message. It shares its
locks with Java's Redisson and with the plain locks of other languages.

This package has the modules for Python 3, for threads and for asyncio, and a
fixture for pytest.")
    set(packages lib/python3/dist-packages)
    install(DIRECTORY bindings/python/src/ DESTINATION "${packages}" COMPONENT python EXCLUDE_FROM_ALL
            FILES_MATCHING PATTERN "*.py" PATTERN py.typed PATTERN __main__.py EXCLUDE PATTERN __pycache__ EXCLUDE)
    install(CODE "execute_process(COMMAND /usr/bin/python3 -B \"${PROJECT_SOURCE_DIR}/bindings/python/cdef\" \"${PROJECT_SOURCE_DIR}/include/holdfast.h\"
      \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${packages}/holdfast/_cffi.py\" OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)"
            COMPONENT python EXCLUDE_FROM_ALL)
    # What pip shows, and how pytest finds the fixture.
    file(CONFIGURE OUTPUT python/METADATA CONTENT "Metadata-Version: 2.1
Name: holdfast
Version: ${PROJECT_VERSION}
Summary: ${CPACK_PACKAGE_DESCRIPTION_SUMMARY}
")
    file(CONFIGURE OUTPUT python/entry_points.txt CONTENT "[pytest11]\nholdfast = pytest_holdfast\n")
    install(FILES "${CMAKE_CURRENT_BINARY_DIR}/python/METADATA" "${CMAKE_CURRENT_BINARY_DIR}/python/entry_points.txt"
            DESTINATION "${packages}/holdfast-${PROJECT_VERSION}.dist-info" COMPONENT python EXCLUDE_FROM_ALL)
  endif()
elseif(HOLDFAST_TOOL)
  set(CPACK_COMPONENTS_ALL tool)
  set(CPACK_DEBIAN_TOOL_PACKAGE_NAME "${CPACK_HOLDFAST_PACKAGE_tool}")
  set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION admin)
  set(CPACK_DEBIAN_TOOL_PACKAGE_SHLIBDEPS ON)
  if(HOLDFAST_LEAN_TOOL)
    # What is loaded later is not seen there: the package that has it.
    file(REAL_PATH "${OPENSSL_SSL_LIBRARY}" openssl)
    execute_process(COMMAND dpkg-query ${of_that_one} --search "${openssl}" OUTPUT_VARIABLE owner ERROR_QUIET)
    string(REGEX MATCH "^[^:,]+" CPACK_DEBIAN_TOOL_PACKAGE_DEPENDS "${owner}")
  endif()
  set(CPACK_DEBIAN_TOOL_PACKAGE_SUGGESTS "redis-server | valkey-server")
  set(CPACK_COMPONENT_TOOL_DESCRIPTION "The tool holdfast takes a lock on Redis or Valkey, runs a command, and ends
it when the lock is lost. It lists locks and their holders, examines
servers, and answers Prometheus. It shares its locks with Java's Redisson
and with the plain locks of other languages.")
else()
  return()
endif()
include(CPack)

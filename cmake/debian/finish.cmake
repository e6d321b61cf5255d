# SPDX-License-Identifier: Apache-2.0
# Run by cpack when a package is laid out and before it is put together: adds what Debian asks of every package, and
# compresses what it wants compressed.
find_program(gzip gzip REQUIRED)
string(TIMESTAMP day "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  set(package "${CPACK_HOLDFAST_PACKAGE_${component}}")
  set(usr "${CPACK_TEMPORARY_DIRECTORY}/${component}/usr")
  if(NOT EXISTS "${usr}")
    message(FATAL_ERROR "nothing was installed for ${component}: ${usr}")
  endif()
  set(doc "${usr}/share/doc/${package}")
  if(EXISTS "${usr}/share/doc/holdfast/docs")
    if(NOT package STREQUAL "holdfast")
      file(RENAME "${usr}/share/doc/holdfast" "${doc}")
    endif()
    file(REMOVE "${doc}/LICENSE" "${doc}/COPYRIGHT")
    file(GLOB pages "${doc}/*.md" "${doc}/docs/*.md")
    foreach(page IN LISTS pages)
      file(READ "${page}" text)
      string(REPLACE "LICENSE)" "copyright)" text "${text}")
      file(WRITE "${page}" "${text}")
    endforeach()
  endif()
  configure_file("${CPACK_HOLDFAST_SOURCE}/COPYRIGHT" "${doc}/copyright" COPYONLY)
  configure_file("${CPACK_HOLDFAST_SOURCE}/CHANGELOG.md" "${doc}/changelog" COPYONLY)
  file(WRITE "${doc}/changelog.Debian" "holdfast (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Made by the sources' own tools/package; what has changed is in changelog.gz.

 -- ${CPACK_PACKAGE_CONTACT}  ${day}
")
  file(GLOB_RECURSE pages "${usr}/share/man/*")
  execute_process(COMMAND "${gzip}" -9nf "${doc}/changelog" "${doc}/changelog.Debian" ${pages}
                  COMMAND_ERROR_IS_FATAL ANY)
  set(overrides "${CPACK_HOLDFAST_SOURCE}/cmake/debian/overrides.${component}")
  if(EXISTS "${overrides}")
    configure_file("${overrides}" "${usr}/share/lintian/overrides/${package}" COPYONLY)
  endif()
endforeach()

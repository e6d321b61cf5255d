# Takes the links out of installed documents that lead to what is not installed.
file(GLOB pages "${holdfast_documents}/*.md" "${holdfast_documents}/docs/*.md")
foreach(page IN LISTS pages)
  file(READ "${page}" text)
  string(REGEX REPLACE "\\[([^][]*)\\]\\((\\.\\./)?(CONTRIBUTING|bench|tests|tools|src)[./][^)]*\\)" "\\1" without "${text}")
  if(NOT without STREQUAL text)
    file(WRITE "${page}" "${without}")
  endif()
endforeach()

# SPDX-License-Identifier: Apache-2.0
# Of the fuzzers, and of the suite that runs them over their corpora.
set(holdfast_fuzz_targets arguments client cluster lane parser probe replies sentinel text url)
set(holdfast_fuzz_common fuzz replacements resp stage)
# Of the tool, for `arguments`: each verb reads its own.
file(GLOB_RECURSE holdfast_fuzz_cli CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cli/*.cpp)
list(FILTER holdfast_fuzz_cli EXCLUDE REGEX "/(main|openssl_later)\\.cpp$")
list(APPEND holdfast_fuzz_cli "${HOLDFAST_LICENCES}")

list(TRANSFORM holdfast_fuzz_common PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
list(TRANSFORM holdfast_fuzz_common APPEND .cpp)

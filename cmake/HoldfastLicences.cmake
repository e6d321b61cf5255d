# SPDX-License-Identifier: Apache-2.0
# What holdfast --licences prints, as a source: for the tool, and for the fuzzer of its command line.
set(HOLDFAST_LICENCES "${PROJECT_BINARY_DIR}/licences.cpp")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/COPYRIGHT")
file(READ "${PROJECT_SOURCE_DIR}/COPYRIGHT" holdfast_copyright)
file(CONFIGURE OUTPUT "${HOLDFAST_LICENCES}" CONTENT [[
namespace holdfast::cli {
extern const char* const kLicences;
const char* const kLicences = R"holdfast(@holdfast_copyright@)holdfast";
}  // namespace holdfast::cli
]] @ONLY)

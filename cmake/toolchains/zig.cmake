# SPDX-License-Identifier: Apache-2.0
# Compiles with zig's clang, libc++ and C libraries, for -DHOLDFAST_ZIG_TARGET=x86_64-linux-musl, aarch64-linux-gnu.2.28, ...
# `tools/platforms` makes the programs in HOLDFAST_ZIG, a folder.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HOLDFAST_ZIG HOLDFAST_ZIG_TARGET)
string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR "${HOLDFAST_ZIG_TARGET}")
if(HOLDFAST_ZIG_TARGET MATCHES "-linux")
  set(CMAKE_SYSTEM_NAME Linux)
elseif(HOLDFAST_ZIG_TARGET MATCHES "-freebsd")
  set(CMAKE_SYSTEM_NAME FreeBSD)
elseif(HOLDFAST_ZIG_TARGET MATCHES "-macos")
  set(CMAKE_SYSTEM_NAME Darwin)
endif()
set(CMAKE_C_COMPILER "${HOLDFAST_ZIG}/${HOLDFAST_ZIG_TARGET}/cc")
set(CMAKE_CXX_COMPILER "${HOLDFAST_ZIG}/${HOLDFAST_ZIG_TARGET}/c++")
set(CMAKE_AR "${HOLDFAST_ZIG}/ar")
set(CMAKE_RANLIB "${HOLDFAST_ZIG}/ranlib")
# As other compilers do by themselves. What nobody calls is left out of what is linked, and so is this folder's name.
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH holdfast_root)
cmake_path(GET holdfast_root PARENT_PATH holdfast_root)
# The fmt of Debian 13 has formats that this clang does not take for constants; they are checked where others compile them.
set(CMAKE_CXX_FLAGS_INIT "-g0 -ffunction-sections -fdata-sections -ffile-prefix-map=${holdfast_root}=. -DFMT_CONSTEVAL=")
set(CMAKE_CXX_FLAGS_RELEASE_INIT "-O2 -DNDEBUG")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-s")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-s -Wl,-z,defs")

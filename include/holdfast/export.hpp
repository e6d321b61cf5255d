// SPDX-License-Identifier: Apache-2.0
// Marks what a shared Holdfast library exports to its users. Everything else, Boost included, stays hidden.
#pragma once

#include <version>

#include <holdfast/detail/standard.hpp>

#if defined(__GNUC__)
#define HOLDFAST_EXPORT [[gnu::visibility("default")]]
#else
#define HOLDFAST_EXPORT
#endif

// Where the standard library lays out its objects differently, Client has a different linker name: if the linker does
// not find `holdfast::Client[abi:with_…]`, the library was compiled without a setting that the program was compiled
// with.
namespace holdfast {
#if defined(_GLIBCXX_DEBUG) && !_GLIBCXX_USE_CXX11_ABI
class [[gnu::abi_tag("with_GLIBCXX_DEBUG", "with_GLIBCXX_USE_CXX11_ABI_0")]] Client;
#elif defined(_GLIBCXX_DEBUG)
class [[gnu::abi_tag("with_GLIBCXX_DEBUG")]] Client;
#elif defined(__GLIBCXX__) && !_GLIBCXX_USE_CXX11_ABI
class [[gnu::abi_tag("with_GLIBCXX_USE_CXX11_ABI_0")]] Client;
#endif
}  // namespace holdfast

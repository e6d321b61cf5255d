// Marks what a shared library of Holdfast offers to its users. All else, Boost included, stays inside.
#pragma once

#if defined(__GNUC__)
#define HOLDFAST_EXPORT [[gnu::visibility("default")]]
#else
#define HOLDFAST_EXPORT
#endif

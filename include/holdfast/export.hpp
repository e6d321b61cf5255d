// Marks what a shared Holdfast library exports to its users. Everything else, Boost included, stays hidden.
#pragma once

#if defined(__GNUC__)
#define HOLDFAST_EXPORT [[gnu::visibility("default")]]
#else
#define HOLDFAST_EXPORT
#endif

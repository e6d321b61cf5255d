// SPDX-License-Identifier: Apache-2.0
// The version of these headers, for the preprocessor. The build and the tool take theirs from here.
#pragma once

#define HOLDFAST_VERSION_MAJOR 0
#define HOLDFAST_VERSION_MINOR 2
#define HOLDFAST_VERSION_PATCH 0

/// One number to compare: `#if HOLDFAST_VERSION >= 200` for 0.2.0 and later, 10000 for 1.0.0.
#define HOLDFAST_VERSION (HOLDFAST_VERSION_MAJOR * 10000 + HOLDFAST_VERSION_MINOR * 100 + HOLDFAST_VERSION_PATCH)
#define HOLDFAST_VERSION_STRING "0.2.0"

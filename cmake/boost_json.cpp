// SPDX-License-Identifier: Apache-2.0
// The one place that compiles Boost.JSON, whose headers only declare it. For the tool and the judges of the tests.
#include <boost/json/src.hpp>

// The one place of the tests that compiles Boost.JSON, whose headers only declare it.
#include <boost/json/src.hpp>

// The one place that compiles Boost.JSON, whose headers only declare it.
#include <boost/json/src.hpp>

// The one translation unit that compiles Boost.Asio's bodies.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>

// The one translation unit that compiles Boost.Asio's and Boost.Redis' bodies.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/redis/src.hpp>

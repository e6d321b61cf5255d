// SPDX-License-Identifier: Apache-2.0
// The only translation unit that compiles the implementation of Boost.Asio.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>

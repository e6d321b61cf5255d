// SPDX-License-Identifier: Apache-2.0
// Allows a static library and its program to be built by different compilers. Not for users.
//
// A static library contains Asio's compiled part. g++ and clang mangle these members of it differently, and agree on
// everything else. So each file that includes this defines them again, word for word.
#pragma once

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_io_executor.hpp>

#if defined(BOOST_ASIO_SEPARATE_COMPILATION)

#define HOLDFAST_MEMBER(Executor, verb, Property)                                                \
  template <>                                                                                    \
  [[gnu::used]] inline Executor Executor::verb(const execution::Property& property, int) const { \
    return static_cast<const base_type&>(*this).verb(property);                                  \
  }
#define HOLDFAST_PREFERENCES(Executor)                               \
  HOLDFAST_MEMBER(Executor, prefer, outstanding_work_t::tracked_t)   \
  HOLDFAST_MEMBER(Executor, prefer, outstanding_work_t::untracked_t) \
  HOLDFAST_MEMBER(Executor, prefer, relationship_t::fork_t)          \
  HOLDFAST_MEMBER(Executor, prefer, relationship_t::continuation_t)

namespace boost::asio {
HOLDFAST_MEMBER(any_io_executor, require, blocking_t::never_t)
HOLDFAST_MEMBER(any_io_executor, prefer, blocking_t::possibly_t)
HOLDFAST_PREFERENCES(any_io_executor)
HOLDFAST_PREFERENCES(any_completion_executor)
}  // namespace boost::asio

#undef HOLDFAST_PREFERENCES
#undef HOLDFAST_MEMBER

#endif

// So that a static library and its program may be of different compilers. Not for users.
//
// Of Asio's compiled part, which a static library brings along, g++ and clang know these members by different names:
// they agree upon everything else. So whoever includes this defines them anew, word for word.
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

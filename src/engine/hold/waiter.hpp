// Somebody of this client who waits for a lock.
#pragma once

#include <boost/intrusive/list_hook.hpp>

namespace holdfast::engine {

/// `post` must not block and is called with the target locked.
class Waiter : public boost::intrusive::list_base_hook<> {
 public:
  enum class Signal {
    turn,     // at the head of the queue
    wake,     // something has changed in this client, or the connection is new
    message,  // a release was announced on a wake channel
    closed,   // the client is closed, or gives everything back
  };
  virtual void post(Signal signal) noexcept = 0;
  /// Is gone without a word: its loop is gone.
  virtual void drop() = 0;
  /// It wants the lock together with others who want it in the same way.
  bool shares() const { return shares_; }

 protected:
  explicit Waiter(bool shares = false) : shares_(shares) {}
  ~Waiter() = default;

 private:
  const bool shares_;
};

}  // namespace holdfast::engine

// Whoever keeps what was granted: renews it in time, and notices when its time is over.
#pragma once

#include <memory>

namespace holdfast::engine {

class Tenancy;

/// The watchdog, as holds know it, and those who hand holds over to it. Of one client.
class Keeper {
 public:
  /// Checks and renews this hold from now on. If it is armed already: it is due at another time now. From any thread.
  virtual void arm(const std::shared_ptr<Tenancy>& hold) = 0;
  /// From here on the hold is neither checked nor renewed, whatever is under way. False: it was not armed. From any
  /// thread.
  virtual bool disarm(Tenancy& hold) = 0;
  /// Checks this hold at once, since what it has just learned makes it due. On the loop.
  virtual void look_now(const std::shared_ptr<Tenancy>& hold) = 0;

 protected:
  ~Keeper() = default;
};

}  // namespace holdfast::engine

// SPDX-License-Identifier: Apache-2.0
// Lock clients in other languages: where tools/peers has left them, and why one cannot run.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/taker.hpp"

namespace holdfast::test {

/// A place for each version of Redisson that is tested, by the names of their folders. Whichever version is in a place:
/// what it can do it says itself (Peer::can, Peer::at_least).
inline const std::vector<std::string> kRedissons{"redisson-3.14.0", "redisson-3.16.1", "redisson-3.24.3", "redisson-3",
                                                 "redisson-4"};
/// A sample of them, for cases in which they hardly differ.
inline const std::vector<std::string> kSomeRedissons{"redisson-3.14.0", "redisson-3.24.3", "redisson-3", "redisson-4"};
/// Others that write the keys of Redisson's locks.
inline const std::vector<std::string> kFamily{"node-redisson", "redisson-rs"};
/// Locks of the family `SET key value NX PX`.
inline const std::vector<std::string> kSimplePeers{"redis-py", "redsync", "node-redlock"};

/// A taker in another language.
class Peer {
 public:
  /// `id` is the name of its folder, for example `redisson-3.14.0`.
  explicit Peer(std::string id);

  const std::string& id() const { return id_; }
  /// What its build calls it, for example `Redisson 3.14.0`; the id if it was not built.
  std::string version() const;
  /// The number in version() is at least this.
  bool at_least(int major, int minor, int patch = 0) const;
  /// What its build has asked its classes for: a word of tests/interop/java/src/taker/Abilities.java. Throws
  /// std::runtime_error if nobody has asked.
  bool can(std::string_view ability) const;
  /// Why it cannot run; empty if it can.
  std::string why_not() const;
  /// Takes minutes to build, so only `tools/peers all` does.
  bool on_request() const { return id_ == "redisson-rs"; }
  /// True if a peer that cannot run is a failure, unless it is built on request only: HOLDFAST_PEERS=required.
  static bool required();
  /// What starts its process.
  std::string program() const { return file("run"); }
  /// A process of it, which is not connected yet.
  std::unique_ptr<Taker> start() const;

 private:
  std::string file(std::string_view name) const;

  std::string id_;
};

}  // namespace holdfast::test

// SPDX-License-Identifier: Apache-2.0
// The processes of a chaos run: what each works on, what can happen to it, and how it ends.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chaos/ageing.hpp"
#include "chaos/ground.hpp"
#include "support/taker.hpp"

namespace holdfast::test::chaos {

/// What one thread does, again and again.
struct Work {
  std::string name;                ///< Of the lock, as the taker is told.
  Milliseconds pause{0};           ///< While it is held.
  Milliseconds wait{3000};         ///< The limit of a wait; 0: ask once.
  std::vector<std::string> how{};  ///< Further words of `hold_for`.
  std::string kind = "lock";       ///< Of the lock.
  long long permits = 0;           ///< If that is a semaphore, in all; of a plain one, of each of its names.

  /// Their names, of which it takes any one; if there are several, with commas between them in `name`.
  std::vector<std::string> locks() const;
};

struct Member {
  std::string client;  ///< Its name in the records.
  std::string program = next_taker_program();
  std::vector<std::string> settings;
  std::vector<Work> works{};
  std::string language = "C++";  ///< In which it uses this library, or the name of another one.
  bool ours = true;              ///< Of this library.
  bool records = true;           ///< It knows `hold_for`; else the run drives it, command by command.
};

/// What its end has shown.
struct CrewEnd {
  std::vector<std::string> hangs;  ///< Calls that did not end, processes that did not exit in good order.
  long long safety_poll_wakes = 0;
};

/// Confined to one thread at a time. Ends its processes when it goes.
class Crew {
 public:
  /// Records go to this folder, and the files of numbers.
  explicit Crew(std::string folder);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Starts its process.
  void hire(Member member, Access access);
  /// All connect, and begin to work.
  void begin();
  /// Carries out a fault of the clients' track, and returns when it is over. Empty: it has nobody to strike.
  std::optional<Struck> strike(const Planned& planned);
  /// What each process of this library uses now.
  std::map<std::string, Used> used() const;
  /// Ends all work, and all processes.
  CrewEnd finish();

  std::size_t size() const { return hands_.size(); }

 private:
  class Hand;
  Hand* one_of(std::uint32_t target, bool (*fits)(const Hand&));

  const std::string folder_;
  std::vector<std::unique_ptr<Hand>> hands_;
};

}  // namespace holdfast::test::chaos

// SPDX-License-Identifier: Apache-2.0
// What the judges have in common: the holds of each name in the order of their grants, and words for a reader.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "judges/measures.hpp"
#include "judges/story.hpp"

namespace holdfast::test {

/// A hold, as small as sorting wants it.
struct Held {
  Microseconds granted = 0;
  Microseconds until = 0;  ///< Its holder believed in it, or its process lived.
  std::uint32_t index = 0;
  bool shared = false;
};

/// Of a story that outlives it.
class View {
 public:
  struct Name {
    Text name;
    std::vector<Held> holds{};  ///< In the order of their grants.
    bool has_readers = false;
  };

  explicit View(const Story& story);

  const Story& story() const { return story_; }
  const std::vector<Name>& names() const { return names_; }
  const HeldOnce& hold(const Held& held) const { return story_.history.holds[held.index]; }

  /// In which this client stood still between these times.
  Microseconds stood_still(Text client, Microseconds from, Microseconds to) const;

  /// A fault that concerns this name between these times; of those by which counts may be lost, if `only_losses`. Null
  /// if there is none.
  const StruckFault* struck(Text name, Microseconds from, Microseconds to, bool only_losses = false) const;

  std::string at(Microseconds time) const;
  std::string words(const HeldOnce& hold) const;
  /// The faults that struck near this time.
  std::string near(Text name, Microseconds from, Microseconds to) const;

 private:
  const Story& story_;
  std::vector<Name> names_;
  Microseconds begin_ = 0;
};

}  // namespace holdfast::test

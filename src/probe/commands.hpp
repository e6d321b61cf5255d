// SPDX-License-Identifier: Apache-2.0
// The commands that Holdfast sends, and what each is for (docs/least-acl.acl).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace holdfast::probing {

/// What does not work without a command.
enum class Need : std::uint8_t {
  lock,     ///< A Lock.
  simple,   ///< A SimpleLock.
  some,     ///< Some calls, or a convenience.
  feature,  ///< Something that has a finding of its own.
};

struct NeededCommand {
  std::string_view name;  ///< In lower case; with its subcommand if it is one: `client list`.
  Need need;
  std::string_view what_for;
  /// The arguments for trying the command, with or without effect, separated by spaces. `KEY` stands for a key,
  /// `CHANNEL` for a channel.
  std::string_view arguments;
  bool harmless;  ///< With these arguments it changes nothing, so it may be sent.
};

std::span<const NeededCommand> needed_commands();

}  // namespace holdfast::probing

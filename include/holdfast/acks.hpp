// Which copies, besides the primary's, must have a grant or a renewal before it counts.
#pragma once

#include <cstdint>

#include <holdfast/detail/standard.hpp>

namespace holdfast {

/// Redis confirms a write before its replicas have it, so a failover can forget a lock that was granted. With acks, a
/// grant or a renewal counts only once that many replicas have confirmed it. A plain value.
class Acks {
 public:
  enum class Level : std::uint8_t {
    none,      ///< The primary's reply is enough.
    replicas,  ///< A number of replicas.
    majority,  ///< More than half of the primary and its replicas, the primary included.
    all,       ///< Every replica that could be elected: all that the Sentinels know, or that were ever seen connected.
    aof,       ///< The primary has it in its append-only file, on disk (WAITAOF: Redis 7.2 or later).
  };

  constexpr Acks() = default;
  static constexpr Acks none() { return {}; }
  /// 0 is the same as none().
  static constexpr Acks replicas(std::uint8_t number) { return {number > 0 ? Level::replicas : Level::none, number}; }
  static constexpr Acks majority() { return {Level::majority, 0}; }
  static constexpr Acks all() { return {Level::all, 0}; }
  static constexpr Acks aof() { return {Level::aof, 0}; }

  constexpr Level level() const { return level_; }
  /// How many replicas are required; 0 unless the level is `replicas`.
  constexpr std::uint8_t number() const { return number_; }
  constexpr bool wanted() const { return level_ != Level::none; }
  friend constexpr bool operator==(const Acks&, const Acks&) = default;

 private:
  constexpr Acks(Level level, std::uint8_t number) : level_(level), number_(number) {}

  Level level_ = Level::none;
  std::uint8_t number_ = 0;
};

}  // namespace holdfast

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <vector>

#include <holdfast/error.hpp>
#include <holdfast/hold.hpp>

#include "base/text.hpp"
#include "face/parts.hpp"
#include "lock/hold/hold_events.hpp"
#include "lock/hold/hold_release.hpp"
#include "lock/queue/target.hpp"
#include "lock/targets/asked.hpp"

namespace holdfast {

Hold::Hold(std::shared_ptr<engine::Claim> held) noexcept : held_(std::move(held)) {}

Hold& Hold::operator=(Hold&& other) noexcept {
  if (this != &other) {
    end();
    held_ = std::move(other.held_);
    outcome_ = other.outcome_;
    loss_ = other.loss_;
    waits_ = other.waits_;
  }
  return *this;
}

Hold::~Hold() { end(); }

void Hold::end() noexcept {
  if (!held_) return;
  if (waits_) {
    engine::unlock(*held_);
  } else {
    engine::unlock_without_waiting(*held_);
  }
}

std::chrono::milliseconds Hold::valid_for() const noexcept {
  return held_ ? std::chrono::duration_cast<std::chrono::milliseconds>(engine::valid_for(*held_))
               : std::chrono::milliseconds{};
}

std::chrono::milliseconds Hold::durable_for() const noexcept {
  return held_ ? std::chrono::duration_cast<std::chrono::milliseconds>(
                     engine::checked(*held_).durable_for(held_->target()->acks_era()))
               : std::chrono::milliseconds{};
}

std::stop_token Hold::lost_token() const noexcept {
  return held_ ? engine::checked(*held_).stop_token() : std::stop_token{};
}

HoldState Hold::state() const noexcept {
  if (held_) return engine::checked(*held_).state();
  if (outcome_ == ReleaseOutcome::empty) return HoldState::empty;
  return loss_ ? HoldState::lost : HoldState::released;
}

std::optional<LossReason> Hold::loss_reason() const noexcept {
  return held_ ? engine::checked(*held_).loss_reason() : loss_;
}

void Hold::throw_if_lost() const {
  if (!held_) throw Error(Errc::not_owner, {}, {}, "the hold is empty");
  face::require_valid(*held_);
}

std::string Hold::owner() const { return held_ ? held_->tenancy().owner().text : std::string(); }

std::optional<std::int64_t> Hold::token() const noexcept { return held_ ? held_->tenancy().token() : std::nullopt; }

std::string Hold::name() const { return held_ ? held_->target()->name() : std::string(); }

void Hold::on_asked(std::function<void()> on_asked) {
  if (!held_) throw Error(Errc::not_owner, {}, {}, "the hold is empty");
  engine::listen_asked(held_, std::move(on_asked));
}

ReleaseOutcome Hold::release() noexcept {
  if (held_) {
    outcome_ = engine::release(*held_);
    loss_ = engine::checked(*held_).loss_reason();
    held_.reset();
  }
  return outcome_;
}

ReleaseOutcome Hold::leave(std::chrono::milliseconds rest) noexcept {
  if (rest <= std::chrono::milliseconds{}) return release();
  if (held_) {
    outcome_ = engine::leave(*held_, std::min(rest, engine::kLongestLease));
    loss_ = engine::checked(*held_).loss_reason();
    held_.reset();
  }
  return outcome_;
}

namespace {

constexpr std::string_view kVersion = "hf1";
constexpr std::chrono::milliseconds kShortestLease{10};
constexpr std::chrono::milliseconds kLongestLease = std::chrono::hours(24 * 365 * 10);
constexpr std::array kKinds{Ticket::Kind::lock, Ticket::Kind::fenced, Ticket::Kind::fair, Ticket::Kind::simple,
                            Ticket::Kind::permit};

/// Only characters that shells, URLs and tables leave unchanged; a dot separates the parts.
std::string encoded(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (const char c : bytes) {
    const bool plain =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == ':';
    if (plain) {
      text += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      text += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return text;
}

/// FNV-1a: detects typing errors, not forgery.
std::string check_sum(std::string_view text) {
  std::uint32_t sum = 2166136261U;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 16777619U;
  std::array<char, 8> digits{};
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, sum >>= 4U)
    *digit = "0123456789abcdef"[sum & 15U];
  return {digits.begin(), digits.end()};
}

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t point = text.find('.'); point != text.npos; point = text.find('.')) {
    parts.push_back(text.substr(0, point));
    text.remove_prefix(point + 1);
  }
  parts.push_back(text);
  return parts;
}

std::optional<Ticket> read(std::string_view text) {
  const std::vector<std::string_view> parts = parts_of(text);
  if (parts.size() != 7 || parts[0] != kVersion) return std::nullopt;
  const auto kind = std::ranges::find_if(kKinds, [&](Ticket::Kind each) { return parts[1] == to_string(each); });
  const std::optional<std::string> owner = base::percent_decoded(parts[2]);
  const std::optional<std::int64_t> token = base::to_number<std::int64_t>(parts[3]);
  const std::optional<std::int64_t> lease = base::to_number<std::int64_t>(parts[4]);
  const std::optional<std::string> name = base::percent_decoded(parts[5]);
  if (kind == kKinds.end() || !owner || owner->empty() || !name || name->empty() || !lease) return std::nullopt;
  if (*lease < kShortestLease.count() || *lease > kLongestLease.count()) return std::nullopt;
  return Ticket{*kind, *name, *owner, token, std::chrono::milliseconds(*lease)};
}

}  // namespace

const char* to_string(Ticket::Kind kind) noexcept {
  switch (kind) {
    case Ticket::Kind::lock:
      return "lock";
    case Ticket::Kind::fenced:
      return "fenced";
    case Ticket::Kind::fair:
      return "fair";
    case Ticket::Kind::simple:
      return "simple";
    case Ticket::Kind::permit:
      return "permit";
  }
  return "?";
}

std::string Ticket::text() const {
  std::string text(kVersion);
  text.append(".").append(to_string(kind)).append(".").append(encoded(owner)).append(".");
  text.append(token ? std::to_string(*token) : "-").append(".").append(std::to_string(lease.count())).append(".");
  text.append(encoded(name));
  return text + "." + check_sum(text);
}

/// Parsing and writing again must give the same text, so that each hold has exactly one.
Ticket Ticket::parse(std::string_view text) {
  std::optional<Ticket> ticket = read(text);
  if (ticket && ticket->text() == text) return std::move(*ticket);
  throw Error(Errc::invalid_argument, {}, {}, "the text is no ticket of a hold, or a part of it is missing or changed");
}

}  // namespace holdfast

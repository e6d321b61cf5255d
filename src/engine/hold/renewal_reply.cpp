#include "engine/hold/renewal_reply.hpp"

#include <holdfast/error.hpp>

#include "redis/failures/errors.hpp"

namespace holdfast::engine {

ServerRefusal refusal_of(const base::Reply& reply) {
  if (!reply.is_error()) return {Errc::server_error, false, "a reply of an unexpected type"};
  // A redirect is shown as it came, for the router, which follows it.
  const bool elsewhere = redis::is_redirect(reply.text);
  const redis::Meaning meaning = redis::classify(reply.text);
  return {meaning.code, meaning.for_good(), elsewhere ? reply.text : redis::explain(reply.text),
          redis::refuses_a_key(reply.text), elsewhere};
}

CommitReply::Renewal read_renewal(const base::Reply& reply, std::size_t locks) {
  CommitReply::Renewal renewal{wire::decode_renew(reply, locks), {}};
  if (renewal.extended.empty()) renewal.refused = refusal_of(reply);
  return renewal;
}

Confirmed read_renewal(const redis::Result& result, std::size_t command, std::size_t locks) {
  Confirmed confirmed{.error = result.error, .cause = result.cause, .sent_at = result.sent_at};
  if (result.delivery != redis::Delivery::answered) return confirmed;
  CommitReply::Renewal renewal = read_renewal(result.replies[command], locks);
  confirmed.extended = std::move(renewal.extended);
  confirmed.acked = !confirmed.extended.empty();
  confirmed.error = renewal.refused.error;
  confirmed.cause = std::move(renewal.refused.cause);
  confirmed.for_one = renewal.refused.for_one;
  return confirmed;
}

Renewed as_renewed(const Confirmed& confirmed) {
  if (confirmed.gone()) return {Renewed::Kind::gone, confirmed.sent_at};
  if (!confirmed.acked) return {Renewed::Kind::unanswered, confirmed.sent_at, confirmed.cause};
  return {Renewed::Kind::extended, confirmed.sent_at, {}, confirmed.era};
}

}  // namespace holdfast::engine

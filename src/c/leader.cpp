// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <holdfast/leader.hpp>

#include "c/handles.hpp"
#include "c/options.hpp"

using holdfast::Errc;
using holdfast::Error;
using holdfast::Term;
using holdfast::TermEnd;
using holdfast::c::given;
using holdfast::c::guarded;

struct hf_leader {
  explicit hf_leader(const holdfast::FencedLock& lock) : leader(lock) {}
  holdfast::Leader leader;
};

struct hf_term {
  const Term& term;
};

static_assert(HF_FINISHED == static_cast<int>(TermEnd::finished) &&
              HF_STEPPED_DOWN == static_cast<int>(TermEnd::stepped_down) &&
              HF_TERM_LOST == static_cast<int>(TermEnd::lost));

namespace {

using Body = void (*)(const hf_term* term, void* data);

holdfast::Leader::Body body_of(Body body, void* data) {
  if (body == nullptr) throw Error(Errc::invalid_argument, {}, {}, "body is NULL");
  return [body, data](const Term& term) {
    const hf_term shown{term};
    body(&shown, data);
  };
}

}  // namespace

int hf_leader_open(const hf_lock* lock, hf_leader** leader) {
  return guarded([&] {
    auto& out = given(leader, "leader");
    out = new hf_leader(holdfast::c::fenced_of(lock));
  });
}

void hf_leader_free(hf_leader* leader) { delete leader; }

int64_t hf_term_token(const hf_term* term) { return term != nullptr ? term->term.token() : 0; }

int64_t hf_term_valid_for(const hf_term* term) { return term != nullptr ? term->term.valid_for().count() : 0; }

int hf_term_leads(const hf_term* term) { return term != nullptr && term->term.leads() ? 1 : 0; }

int hf_leader_lead(hf_leader* leader, const hf_options* options, Body body, void* data, int* end) {
  return guarded([&] {
    const TermEnd how = given(leader, "leader").leader.lead(body_of(body, data), holdfast::c::acquire_options(options));
    if (end != nullptr) *end = static_cast<int>(how);
  });
}

int hf_leader_campaign(hf_leader* leader, hf_stop* stop, int64_t rest_ms, Body body,
                       void (*trouble)(const hf_error* error, void* data), void* data) {
  return guarded([&] {
    if (rest_ms < 0) throw Error(Errc::invalid_argument, {}, {}, "rest_ms is below 0");
    holdfast::CampaignOptions options;
    if (stop != nullptr) options.stop = stop->source.get_token();
    options.rest = std::chrono::milliseconds(rest_ms);
    if (trouble != nullptr) {
      options.on_trouble = [trouble, data](const Error& error) {
        const holdfast::Failure failure(error);
        const hf_error shown = holdfast::c::error_of(failure);
        trouble(&shown, data);
      };
    }
    given(leader, "leader").leader.campaign(body_of(body, data), options);
  });
}

void hf_leader_step_down(hf_leader* leader) {
  if (leader != nullptr) leader->leader.step_down();
}

int hf_leader_leads(const hf_leader* leader) { return leader != nullptr && leader->leader.leads() ? 1 : 0; }

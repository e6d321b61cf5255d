// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <sstream>

#include <holdfast/detail/handle_access.hpp>
#include <holdfast/probe.hpp>
#include <holdfast/version.hpp>

#include "c/handles.hpp"
#include "json/json.hpp"

using holdfast::Errc;
using holdfast::Error;
using holdfast::Failure;
using holdfast::c::given;
using holdfast::c::guarded;
using holdfast::c::start;
using holdfast::c::text_of;
using holdfast::detail::HandleAccess;

namespace holdfast::c {

char* text_of(const std::string& text) {
  char* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

namespace {

KeyForm form_of(int what) {
  constexpr int kFirst = HF_LIST_LOCKS;
  constexpr int kLast = HF_LIST_ANY;
  if (what < kFirst || what > kLast) throw Error(Errc::invalid_argument, {}, {}, "what is not an hf_list");
  static_assert(static_cast<int>(KeyForm::any) == kLast && static_cast<int>(KeyForm::simple_locks) == HF_LIST_SIMPLE);
  return static_cast<KeyForm>(what);
}

}  // namespace
}  // namespace holdfast::c

const char* hf_version() { return HOLDFAST_VERSION_STRING; }

void hf_text_free(char* text) { std::free(text); }

int hf_stop_new(hf_stop** stop) {
  return guarded([&] {
    auto& out = given(stop, "stop");
    out = new hf_stop();
  });
}

void hf_stop_free(hf_stop* stop) { delete stop; }

void hf_stop_request(hf_stop* stop) {
  if (stop != nullptr) stop->source.request_stop();
}

int hf_client_open(const char* url, hf_client** client) {
  return guarded([&] {
    auto& out = given(client, "client");
    out = new hf_client{holdfast::Client(&given(url, "url"))};
  });
}

void hf_client_close(hf_client* client) {
  if (client != nullptr) client->client.close();
}

void hf_client_free(hf_client* client) { delete client; }

const char* hf_client_id(const hf_client* client) { return client != nullptr ? client->client.id().c_str() : ""; }

const char* hf_client_node(const hf_client* client) { return client != nullptr ? client->client.node().c_str() : ""; }

int hf_client_ping(const hf_client* client) {
  return guarded([&] { given(client, "client").client.ping(); });
}

int hf_client_ping_async(const hf_client* client, hf_queue* queue, uint64_t tag) {
  return guarded([&] {
    const auto& core = HandleAccess::core(given(client, "client").client);
    start<Failure>(queue, tag, {},
                   [&](auto receiver) { return holdfast::detail::make_ping(core, std::move(receiver)); });
  });
}

int hf_client_release_all(const hf_client* client, int64_t within_ms, size_t* left) {
  return guarded([&] {
    const std::size_t unconfirmed = given(client, "client").client.release_all(std::chrono::milliseconds(within_ms));
    if (left != nullptr) *left = unconfirmed;
  });
}

int hf_client_release_all_async(const hf_client* client, int64_t within_ms, hf_queue* queue, uint64_t tag) {
  return guarded([&] {
    const auto& core = HandleAccess::core(given(client, "client").client);
    start<std::size_t>(queue, tag, {}, [&](auto receiver) {
      return holdfast::detail::make_release_all(core, std::chrono::milliseconds(within_ms), std::move(receiver));
    });
  });
}

int hf_client_metrics(const hf_client* client, int form, char** text) {
  return guarded([&] {
    std::ostringstream said;
    const holdfast::Metrics metrics = given(client, "client").client.metrics();
    if (form == HF_OPENMETRICS) {
      metrics.write_openmetrics(said);
    } else if (form == HF_PROMETHEUS) {
      metrics.write_prometheus(said);
    } else {
      throw Error(Errc::invalid_argument, {}, {}, "form is not an hf_form");
    }
    auto& out = given(text, "text");
    out = text_of(said.str());
  });
}

int hf_client_list(const hf_client* client, const char* pattern, int what, char** json) {
  return guarded([&] {
    const auto found =
        given(client, "client")
            .client.list(&given(pattern, "pattern"), holdfast::InfoDetail::holder, holdfast::c::form_of(what));
    auto& out = given(json, "json");
    out = text_of(holdfast::json::line(holdfast::json::to_json(found)));
  });
}

int hf_client_list_async(const hf_client* client, const char* pattern, int what, hf_queue* queue, uint64_t tag) {
  return guarded([&] {
    const auto& core = HandleAccess::core(given(client, "client").client);
    const std::string names = &given(pattern, "pattern");
    const holdfast::KeyForm form = holdfast::c::form_of(what);
    start<Failure, std::vector<holdfast::LockInfo>>(queue, tag, {}, [&](auto receiver) {
      return holdfast::detail::make_list(core, names, holdfast::InfoDetail::holder, form, std::move(receiver));
    });
  });
}

int hf_client_probe(const hf_client* client, const char* lock, char** json) {
  return guarded([&] {
    const holdfast::ProbeReport report = holdfast::probe(given(client, "client").client, lock != nullptr ? lock : "");
    const std::span reports(&report, 1);
    auto& out = given(json, "json");
    out = text_of(holdfast::json::line(holdfast::json::to_json(reports, holdfast::json::all_findings(reports))));
  });
}

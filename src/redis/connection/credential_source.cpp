#include "redis/connection/credential_source.hpp"

#include <exception>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace holdfast::redis {
namespace {

using Asked = Aside<CredentialSource::Given>;

constinit AsideCount calls_in_process(CredentialSource::kMostInProcess);

/// The user's text, cut to what fits into an error.
std::string in_words(std::string_view what) {
  constexpr std::size_t kMost = 200;
  return base::printable(what.substr(0, kMost));
}

Asked::Reply call(const CredentialsProvider& provider) {
  Asked::Reply reply;
  reply.answer.asked_at = base::Clock::now();
  try {
    reply.answer.credentials = provider();
  } catch (const std::exception& error) {
    reply.problem = "the credentials' provider threw: " + in_words(error.what());
  } catch (...) {
    reply.problem = "the credentials' provider threw something that is no std::exception";
  }
  const auto& valid_for = reply.answer.credentials.valid_for;
  if (reply.problem.empty() && valid_for && base::Clock::now() - reply.answer.asked_at >= *valid_for) {
    reply.problem = "the credentials' provider gave what has ended already";
  }
  return reply;
}

}  // namespace

CredentialSource::CredentialSource(const boost::asio::any_io_executor& executor, const Config& config)
    : config_(config), asked_(executor, calls_in_process, "calls of credentials' providers") {}

void CredentialSource::ask(Found found) {
  if (!changes()) return found({{config_.username, config_.password}, base::Clock::now()}, {});
  asking_ = true;
  asked_.ask([provider = config_.credentials] { return call(provider); },
             [this, found = std::move(found)](const Given& given, const std::string& problem) {
               asking_ = false;
               found(given, problem);
             });
}

void CredentialSource::forget() {
  if (std::exchange(asking_, false)) asked_.forget();
}

}  // namespace holdfast::redis

// SPDX-License-Identifier: Apache-2.0
#include "redis/connection/tls.hpp"

#include <cstdint>
#include <filesystem>
#include <sys/stat.h>
#include <utility>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <openssl/objects.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <holdfast/error.hpp>

namespace holdfast::redis {

namespace asio = boost::asio;

namespace {

namespace ssl = boost::asio::ssl;

/// Leaves the ciphers that the system allows and that have forward secrecy, without which whoever gets the server's key
/// later can read everything that was recorded.
void refuse_static_keys(ssl::context& context) {
  std::string names;
  STACK_OF(SSL_CIPHER)* const ciphers = SSL_CTX_get_ciphers(context.native_handle());
  for (int i = 0; i < sk_SSL_CIPHER_num(ciphers); ++i) {
    const SSL_CIPHER* const cipher = sk_SSL_CIPHER_value(ciphers, i);
    const int exchange = SSL_CIPHER_get_kx_nid(cipher);
    if (exchange != NID_kx_ecdhe && exchange != NID_kx_dhe) continue;
    names.append(names.empty() ? "" : ":").append(SSL_CIPHER_get_name(cipher));
  }
  SSL_CTX_set_cipher_list(context.native_handle(), names.c_str());
}

/// The state of the files that are named, as text; empty: not all of them can be read twice.
std::string state_of(const TlsConfig& tls) {
  std::string out;
  for (const std::string* const path : {&tls.ca_file, &tls.certificate_file, &tls.key_file}) {
    if (path->empty()) continue;
    struct stat file{};
    if (stat(path->c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return {};
    std::error_code replaced;  // just now: the next login sees it
    const auto written = std::filesystem::last_write_time(*path, replaced);
    for (const auto number :
         {static_cast<std::int64_t>(file.st_dev), static_cast<std::int64_t>(file.st_ino),
          static_cast<std::int64_t>(file.st_size), static_cast<std::int64_t>(written.time_since_epoch().count())}) {
      out += std::to_string(number) + " ";
    }
  }
  return out;
}

/// Throws Error(tls), naming the file that could not be read, or the part of what is provided.
std::shared_ptr<ssl::context> make_tls_context(const TlsConfig& tls, const TlsCredentials& given,
                                               const std::string& node) {
  const auto made = std::make_shared<ssl::context>(ssl::context::tls_client);
  ssl::context& context = *made;

  const auto check = [&](const boost::system::error_code& error, const std::string& what) {
    if (error) throw Error(Errc::tls, {}, node, what + ": " + error.message());
  };
  boost::system::error_code error;
  context.set_options(ssl::context::default_workarounds | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1, error);
  if (!given.authorities.empty()) {
    context.add_certificate_authority(asio::buffer(given.authorities), error);
    check(error, "cannot read the authorities that the TLS provider gave");
  } else if (!tls.ca_file.empty()) {
    context.load_verify_file(tls.ca_file, error);
    check(error, "cannot read the authorities in " + tls.ca_file);
  } else {
    context.set_default_verify_paths(error);
    check(error, "cannot read the system's trusted authorities");
  }
  refuse_static_keys(context);
  // Else OpenSSL would ask for a pass phrase on the terminal.
  const auto encrypted = std::make_shared<bool>(false);
  context.set_password_callback(
      [encrypted](std::size_t, ssl::context::password_purpose) {
        *encrypted = true;
        return std::string();
      },
      error);
  if (!given.certificate.empty()) {
    context.use_certificate_chain(asio::buffer(given.certificate), error);
    check(error, "cannot read the certificate that the TLS provider gave");
  } else if (!tls.certificate_file.empty()) {
    context.use_certificate_chain_file(tls.certificate_file, error);
    check(error, "cannot read the certificate in " + tls.certificate_file);
  }
  const auto check_key = [&](const std::string& which) {
    const char* const why = *encrypted ? " (it is encrypted, and nobody is asked for a pass phrase)" : "";
    check(error, "cannot read the private key " + which + why);
  };
  if (!given.key.empty()) {
    context.use_private_key(asio::buffer(given.key), ssl::context::pem, error);
    check_key("that the TLS provider gave");
  } else if (!tls.key_file.empty()) {
    context.use_private_key_file(tls.key_file, ssl::context::pem, error);
    check_key("in " + tls.key_file);
  }
  context.set_verify_mode(tls.verify == TlsConfig::Verify::none ? ssl::verify_none : ssl::verify_peer);
  return made;
}

constinit AsideCount reads_in_process(TlsContext::kMostInProcess);

using Reread = Aside<TlsContext::Loaded>;

/// On a thread of its own.
Reread::Reply read_again(const TlsConfig& tls, const std::string& before) {
  Reread::Reply reply;
  TlsCredentials given;
  if (tls.provider) {
    reply.problem = thrown_by("the TLS provider", [&] { given = tls.provider(); });
    if (!reply.problem.empty()) return reply;
  } else {
    reply.answer.files = state_of(tls);
    if (reply.answer.files.empty() || reply.answer.files == before) return {};
  }
  try {
    reply.answer.context = make_tls_context(tls, given, {});
  } catch (const Error& error) {
    reply.problem = error.what();  // perhaps half written
  }
  return reply;
}

}  // namespace

TlsContext::TlsContext(const asio::any_io_executor& executor, const Config& config)
    : config_(config), reads_(executor, reads_in_process, "reads of TLS files") {
  if (!config.tls.enabled || config.tls.provider) return;
  loaded_.files = state_of(config.tls);
  loaded_.context = make_tls_context(config.tls, {}, config.node());
  fresh_ = true;
}

void TlsContext::refresh(std::function<void(const std::string& problem)> ready) {
  const TlsConfig& tls = config_.tls;
  const bool none = tls.ca_file.empty() && tls.certificate_file.empty() && !tls.provider;
  if (std::exchange(fresh_, false) || none) return ready({});
  refreshing_ = true;
  reads_.ask([tls, before = loaded_.files] { return read_again(tls, before); },
             [this, ready = std::move(ready)](const Loaded& loaded, const std::string& problem) {
               refreshing_ = false;
               if (problem.empty() && loaded.context) loaded_ = loaded;
               ready(loaded_.context ? std::string() : problem);
             });
}

std::string TlsContext::missing() const {
  if (!refreshing_) return {};
  return config_.tls.provider ? "answer of the TLS provider" : "answer of the file system about the TLS files";
}

void TlsContext::forget() {
  if (std::exchange(refreshing_, false)) reads_.forget();
}

void expect_host(TlsStream& stream, const std::string& host, TlsConfig::Verify verify, std::string& refusal) {
  // For servers with a certificate for each name; addresses are not sent.
  boost::system::error_code not_an_address;
  boost::asio::ip::make_address(host, not_an_address);
  if (not_an_address) SSL_set_tlsext_host_name(stream.native_handle(), host.c_str());
  if (verify == TlsConfig::Verify::none) return;
  const bool any_host = verify == TlsConfig::Verify::ca;
  stream.set_verify_callback([&refusal, host, any_host](bool trusted, ssl::verify_context& context) {
    const bool accepted = any_host ? trusted : ssl::host_name_verification(host)(trusted, context);
    if (!trusted) {
      refusal = X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.native_handle()));
    } else if (!accepted) {
      refusal = "it is not for the host " + host;
    }
    return accepted;
  });
}

}  // namespace holdfast::redis

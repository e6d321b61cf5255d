#include "redis/connection/tls.hpp"

#include <boost/asio/ssl/host_name_verification.hpp>
#include <openssl/x509_vfy.h>

#include <holdfast/error.hpp>

namespace holdfast::redis {

std::optional<boost::asio::ssl::context> make_tls_context(const Config& config, TlsRefusal refusal) {
  namespace ssl = boost::asio::ssl;
  if (!config.tls.enabled) return std::nullopt;
  ssl::context context(ssl::context::tls_client);

  const auto check = [&](const boost::system::error_code& error, const std::string& what) {
    if (error) throw Error(Errc::tls, {}, config.node(), what + ": " + error.message());
  };
  boost::system::error_code error;
  context.set_options(ssl::context::default_workarounds | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1, error);
  if (!config.tls.ca_file.empty()) {
    context.load_verify_file(config.tls.ca_file, error);
    check(error, "cannot read the authorities in " + config.tls.ca_file);
  } else {
    context.set_default_verify_paths(error);
    check(error, "cannot read the system's trusted authorities");
  }
  if (!config.tls.certificate_file.empty()) {
    context.use_certificate_chain_file(config.tls.certificate_file, error);
    check(error, "cannot read the certificate in " + config.tls.certificate_file);
  }
  if (!config.tls.key_file.empty()) {
    context.use_private_key_file(config.tls.key_file, ssl::context::pem, error);
    check(error, "cannot read the private key in " + config.tls.key_file);
  }
  if (config.tls.verify == TlsConfig::Verify::full) {
    context.set_verify_mode(ssl::verify_peer);
    context.set_verify_callback(
        [refusal = std::move(refusal), host = config.host](bool trusted, ssl::verify_context& v) {
          const bool accepted = ssl::host_name_verification(host)(trusted, v);
          if (!trusted) {
            *refusal = X509_verify_cert_error_string(X509_STORE_CTX_get_error(v.native_handle()));
          } else if (!accepted) {
            *refusal = "it is not for the host " + host;
          }
          return accepted;
        });
  } else {
    context.set_verify_mode(ssl::verify_none);
  }
  return context;
}

}  // namespace holdfast::redis

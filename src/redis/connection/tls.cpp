#include "redis/connection/tls.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <openssl/x509_vfy.h>

#include <holdfast/error.hpp>

namespace holdfast::redis {

std::optional<boost::asio::ssl::context> make_tls_context(const Config& config) {
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
  context.set_verify_mode(config.tls.verify == TlsConfig::Verify::full ? ssl::verify_peer : ssl::verify_none);
  return context;
}

void expect_host(TlsStream& stream, const std::string& host, TlsConfig::Verify verify, std::string& refusal) {
  namespace ssl = boost::asio::ssl;
  // For servers with a certificate for each name; addresses are not sent.
  boost::system::error_code not_an_address;
  boost::asio::ip::make_address(host, not_an_address);
  if (not_an_address) SSL_set_tlsext_host_name(stream.native_handle(), host.c_str());
  if (verify != TlsConfig::Verify::full) return;
  stream.set_verify_callback([&refusal, host](bool trusted, ssl::verify_context& context) {
    const bool accepted = ssl::host_name_verification(host)(trusted, context);
    if (!trusted) {
      refusal = X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.native_handle()));
    } else if (!accepted) {
      refusal = "it is not for the host " + host;
    }
    return accepted;
  });
}

}  // namespace holdfast::redis

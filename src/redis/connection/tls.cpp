#include "redis/connection/tls.hpp"

#include <memory>
#include <string>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <openssl/objects.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <holdfast/error.hpp>

namespace holdfast::redis {

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

}  // namespace

std::optional<boost::asio::ssl::context> make_tls_context(const Config& config) {
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
  refuse_static_keys(context);
  // Else OpenSSL would ask for a pass phrase on the terminal.
  const auto encrypted = std::make_shared<bool>(false);
  context.set_password_callback(
      [encrypted](std::size_t, ssl::context::password_purpose) {
        *encrypted = true;
        return std::string();
      },
      error);
  if (!config.tls.certificate_file.empty()) {
    context.use_certificate_chain_file(config.tls.certificate_file, error);
    check(error, "cannot read the certificate in " + config.tls.certificate_file);
  }
  if (!config.tls.key_file.empty()) {
    context.use_private_key_file(config.tls.key_file, ssl::context::pem, error);
    const char* const why = *encrypted ? " (it is encrypted, and nobody is asked for a pass phrase)" : "";
    check(error, "cannot read the private key in " + config.tls.key_file + why);
  }
  context.set_verify_mode(config.tls.verify == TlsConfig::Verify::full ? ssl::verify_peer : ssl::verify_none);
  return context;
}

void expect_host(TlsStream& stream, const std::string& host, TlsConfig::Verify verify, std::string& refusal) {
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

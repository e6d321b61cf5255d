// SPDX-License-Identifier: Apache-2.0
// Certificates for TLS tests, made on the spot with the openssl command.
#pragma once

#include <filesystem>
#include <string>

namespace holdfast::test {

/// Paths of PEM files below one folder. Unless told otherwise, the server's certificate names `localhost` and nothing
/// else, so that connecting to 127.0.0.1 is a test of a wrong name.
struct Certificates {
  std::string ca_file;            ///< Signed both certificates.
  std::string untrusted_ca_file;  ///< Signed neither.
  std::string server_certificate_file, server_key_file;
  std::string client_certificate_file, client_key_file;
  std::string untrusted_client_certificate_file, untrusted_client_key_file;  ///< From the untrusted authority.

  /// `server_names`: as openssl wants them.
  static Certificates make(const std::filesystem::path& folder, const std::string& server_names = "DNS:localhost");
};

}  // namespace holdfast::test

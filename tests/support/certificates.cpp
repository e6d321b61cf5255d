// SPDX-License-Identifier: Apache-2.0
#include "support/certificates.hpp"

#include <fstream>
#include <vector>

#include "support/process.hpp"

namespace holdfast::test {
namespace {

struct Signer {
  std::string certificate, key;
};

std::string file(const std::filesystem::path& folder, const std::string& name) { return (folder / name).string(); }

Signer make_authority(const std::filesystem::path& folder, const std::string& name) {
  Signer made{file(folder, name + ".pem"), file(folder, name + ".key")};
  run_checked("openssl", {"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                          "-days", "30", "-subj", "/CN=" + name, "-keyout", made.key, "-out", made.certificate});
  return made;
}

Signer make_certificate(const std::filesystem::path& folder, const std::string& name, const std::string& common_name,
                        const std::string& names, const Signer& authority) {
  Signer made{file(folder, name + ".pem"), file(folder, name + ".key")};
  const std::string request = file(folder, name + ".csr");
  const std::string extensions = file(folder, name + ".ext");
  std::ofstream(extensions) << "subjectAltName=" << names << "\n";
  run_checked("openssl", {"req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
                          "/CN=" + common_name, "-keyout", made.key, "-out", request});
  run_checked("openssl", {"x509", "-req", "-in", request, "-CA", authority.certificate, "-CAkey", authority.key,
                          "-CAcreateserial", "-days", "30", "-extfile", extensions, "-out", made.certificate});
  return made;
}

}  // namespace

Certificates Certificates::make(const std::filesystem::path& folder, const std::string& server_names) {
  std::filesystem::create_directories(folder);
  const Signer trusted = make_authority(folder, "ca");
  const Signer untrusted = make_authority(folder, "untrusted-ca");
  const Signer server = make_certificate(folder, "server", "localhost", server_names, trusted);
  const Signer client = make_certificate(folder, "client", "client", "DNS:client", trusted);
  const Signer stranger = make_certificate(folder, "untrusted-client", "client", "DNS:client", untrusted);
  return {trusted.certificate, untrusted.certificate, server.certificate, server.key, client.certificate,
          client.key,          stranger.certificate,  stranger.key};
}

}  // namespace holdfast::test

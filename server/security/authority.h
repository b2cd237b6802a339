// The server's own certificate authority, in the folder `tls` of its data folder: authority.pem and
// authority.key, server.pem (the server's certificate, and the authority's after it) and
// server.key. Keys are written with mode 0600 and not used when others could read them.
//
// Thread-safe after creation: nothing changes but files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/pki/certificate.h"
#include "base/result.h"

namespace stripline::server {

/// How long what it issues is valid.
inline constexpr double kAuthorityValid_s = 20.0 * 365 * 86400;
inline constexpr double kServerCertificateValid_s = 365.0 * 86400;
inline constexpr double kNodeCertificateValid_s = 30.0 * 86400;
/// Certificates are backdated by so much: the clocks of nodes and of this machine may differ, and
/// may be set back by a day after one was issued.
inline constexpr double kClocksDiffer_s = 2.0 * 86400;

/// The alternative name in a node's certificate: "stripline:nodes/a".
std::string node_uri(const std::string& node);
/// The node of a certificate that has one such name; empty else.
std::string node_of(const pki::Certificate& certificate);

class Authority {
 public:
  /// Makes one whose server is reached under these names and addresses. Errors: already_exists when
  /// the folder holds one; invalid_argument for what is no host; unavailable when it cannot write.
  static Result<Authority> create(const std::filesystem::path& data_dir,
                                  const std::vector<std::string>& hosts, double now_unix_s);
  /// Errors: not_found when there is none; failed_precondition when others could read a key;
  /// data_loss when files are damaged or do not belong together, or it has expired or begins later
  /// than now.
  static Result<Authority> open(const std::filesystem::path& data_dir, double now_unix_s);

  /// Writes a new certificate for the server, for the same hosts, when a third or less of the old
  /// one's time is left, or when the old one is not valid yet: it was made while this machine's
  /// clock was ahead, and no client would accept it. True: it did. A server that runs takes it up.
  /// Errors: unavailable.
  Result<bool> renew_server(double now_unix_s) const;

  /// Errors: invalid_argument for what is no request.
  Result<std::string> certify_node(const std::string& node, const std::string& request_pem,
                                   const pki::Validity& validity) const;

  const pki::Certificate& certificate() const { return issuer_.certificate; }
  std::string sha256() const { return issuer_.certificate.sha256(); }
  /// The present one of the server. Errors: those of a file that cannot be read.
  Result<pki::Certificate> server_certificate() const;
  /// The hosts in the server's certificate.
  Result<std::vector<std::string>> hosts() const;

  std::filesystem::path authority_file() const { return folder_ / "authority.pem"; }
  std::filesystem::path server_certificate_file() const { return folder_ / "server.pem"; }
  std::filesystem::path server_key_file() const { return folder_ / "server.key"; }

 private:
  Authority(std::filesystem::path folder, pki::Issuer issuer)
      : folder_(std::move(folder)), issuer_(std::move(issuer)) {}
  Status certify_server(const std::vector<std::string>& hosts, double now_unix_s) const;

  std::filesystem::path folder_;
  pki::Issuer issuer_;
};

}  // namespace stripline::server

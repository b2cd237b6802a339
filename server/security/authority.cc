#include "server/security/authority.h"

#include <system_error>

#include "base/pki/secret_file.h"
#include "base/rfc3339.h"
#include "base/whole_file.h"

namespace stripline::server {
namespace {

constexpr std::string_view kNodeUri = "stripline:nodes/";
constexpr double kRenewWhenLeft = 1.0 / 3;

std::filesystem::path folder_in(const std::filesystem::path& data_dir) { return data_dir / "tls"; }

Error damaged(const std::filesystem::path& path, const Error& why) {
  return {why.code(), "'" + path.string() + "': " + why.message() +
                          "; restore it from a backup of the data folder"};
}

Result<pki::Certificate> read_certificate(const std::filesystem::path& path) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string pem, read_whole_file(path));
  auto certificate = pki::Certificate::from_pem(pem);
  if (!certificate.ok()) return damaged(path, certificate.error());
  return certificate;
}

Result<pki::PrivateKey> read_key(const std::filesystem::path& path) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string pem, pki::read_secret(path));
  auto key = pki::PrivateKey::from_pem(pem);
  if (!key.ok()) return damaged(path, key.error());
  return key;
}

}  // namespace

std::string node_uri(const std::string& node) { return std::string(kNodeUri) + node; }

std::string node_of(const pki::Certificate& certificate) {
  const std::vector<std::string> uris = certificate.uris();
  if (uris.size() != 1 || !uris.front().starts_with(kNodeUri)) return {};
  return uris.front().substr(kNodeUri.size());
}

Result<Authority> Authority::create(const std::filesystem::path& data_dir,
                                    const std::vector<std::string>& hosts, double now_unix_s) {
  const std::filesystem::path folder = folder_in(data_dir);
  STRIPLINE_RETURN_IF_ERROR(pki::make_private_folder(folder));
  for (const char* name : {"authority.key", "authority.pem", "server.key", "server.pem"}) {
    std::error_code ignored;
    if (!std::filesystem::exists(std::filesystem::symlink_status(folder / name, ignored))) continue;
    return Error(ErrorCode::already_exists,
                 "'" + (folder / name).string() +
                     "' exists: the certificates of nodes and users hang on it; to start over, "
                     "which shuts all of them out, move '" +
                     folder.string() + "' away");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const pki::PrivateKey key, pki::PrivateKey::generate());
  STRIPLINE_ASSIGN_OR_RETURN(
      const pki::Certificate certificate,
      pki::make_authority(key, "Stripline authority",
                          {now_unix_s - kClocksDiffer_s, now_unix_s + kAuthorityValid_s}));
  Authority authority(folder, {certificate, key});
  STRIPLINE_ASSIGN_OR_RETURN(const pki::PrivateKey server_key, pki::PrivateKey::generate());
  STRIPLINE_ASSIGN_OR_RETURN(const std::string server_key_pem, server_key.pem());
  STRIPLINE_RETURN_IF_ERROR(pki::write_secret(authority.server_key_file(), server_key_pem));
  const Status certified = authority.certify_server(hosts, now_unix_s);
  if (!certified.ok()) {
    std::error_code ignored;
    std::filesystem::remove(authority.server_key_file(), ignored);
    return certified.error();
  }
  STRIPLINE_ASSIGN_OR_RETURN(const std::string pem, certificate.pem());
  STRIPLINE_RETURN_IF_ERROR(pki::write_secret(authority.authority_file(), pem));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string key_pem, key.pem());
  STRIPLINE_RETURN_IF_ERROR(pki::write_secret(folder / "authority.key", key_pem));
  return authority;
}

Result<Authority> Authority::open(const std::filesystem::path& data_dir, double now_unix_s) {
  const std::filesystem::path folder = folder_in(data_dir);
  std::error_code ignored;
  if (!std::filesystem::exists(folder / "authority.key", ignored)) {
    return Error(ErrorCode::not_found, "there are no certificates in '" + data_dir.string() +
                                           "'; 'stripline-server init --data-dir " +
                                           data_dir.string() + "' makes them");
  }
  STRIPLINE_RETURN_IF_ERROR(pki::make_private_folder(folder));
  STRIPLINE_ASSIGN_OR_RETURN(const pki::Certificate certificate,
                             read_certificate(folder / "authority.pem"));
  STRIPLINE_ASSIGN_OR_RETURN(const pki::PrivateKey key, read_key(folder / "authority.key"));
  Authority authority(folder, {certificate, key});
  STRIPLINE_ASSIGN_OR_RETURN(const pki::PrivateKey server_key,
                             read_key(authority.server_key_file()));
  STRIPLINE_ASSIGN_OR_RETURN(const pki::Certificate server, authority.server_certificate());
  if (!certificate.belongs_to(key) || !server.belongs_to(server_key) ||
      !server.is_signed_by(certificate)) {
    return damaged(folder, Error(ErrorCode::data_loss,
                                 "the certificates and keys in it do not belong together"));
  }
  if (now_unix_s > certificate.not_after_unix_s()) {
    return Error(ErrorCode::data_loss,
                 "the authority in '" + folder.string() +
                     "' has expired, and with it all its certificates; check this machine's "
                     "clock, or move the folder away and run 'stripline-server init' again");
  }
  if (now_unix_s < certificate.not_before_unix_s()) {
    return Error(ErrorCode::data_loss,
                 "the authority in '" + folder.string() + "' begins at " +
                     rfc3339(certificate.not_before_unix_s()) + ", and this machine's clock says " +
                     rfc3339(now_unix_s) +
                     ": set the clock; if it is right, the authority was made with a wrong one: "
                     "move the folder away and run 'stripline-server init' again");
  }
  return authority;
}

Result<pki::Certificate> Authority::server_certificate() const {
  return read_certificate(server_certificate_file());
}

Result<std::vector<std::string>> Authority::hosts() const {
  STRIPLINE_ASSIGN_OR_RETURN(const pki::Certificate server, server_certificate());
  return server.hosts();
}

Result<bool> Authority::renew_server(double now_unix_s) const {
  STRIPLINE_ASSIGN_OR_RETURN(const pki::Certificate server, server_certificate());
  const double whole_s = server.not_after_unix_s() - server.not_before_unix_s();
  const bool valid = server.not_before_unix_s() <= now_unix_s;
  if (valid && server.not_after_unix_s() - now_unix_s > kRenewWhenLeft * whole_s) return false;
  STRIPLINE_RETURN_IF_ERROR(certify_server(server.hosts(), now_unix_s));
  return true;
}

Status Authority::certify_server(const std::vector<std::string>& hosts, double now_unix_s) const {
  STRIPLINE_ASSIGN_OR_RETURN(const pki::PrivateKey key, read_key(server_key_file()));
  const std::string name = hosts.empty() ? "server" : hosts.front().substr(0, 64);
  STRIPLINE_ASSIGN_OR_RETURN(
      const pki::Certificate server,
      pki::issue(issuer_, key, {name, hosts, {}}, pki::Use::server,
                 {now_unix_s - kClocksDiffer_s, now_unix_s + kServerCertificateValid_s}));
  STRIPLINE_ASSIGN_OR_RETURN(std::string chain, server.pem());
  STRIPLINE_ASSIGN_OR_RETURN(const std::string own, issuer_.certificate.pem());
  return pki::write_secret(server_certificate_file(), chain + own);
}

Result<std::string> Authority::certify_node(const std::string& node, const std::string& request_pem,
                                            const pki::Validity& validity) const {
  STRIPLINE_ASSIGN_OR_RETURN(
      const pki::Certificate certificate,
      pki::issue_for_request(issuer_, request_pem, {node, {}, {node_uri(node)}}, pki::Use::client,
                             validity));
  return certificate.pem();
}

}  // namespace stripline::server

#include "agent/credentials.h"

#include <algorithm>
#include <sys/stat.h>
#include <utility>

#include "base/atomic_file.h"
#include "base/pki/certificate.h"
#include "base/pki/dev_token.h"
#include "base/pki/secret_file.h"
#include "base/settings.h"

namespace stripline::agent {
namespace {

constexpr double kRenewWhenLeft = 1.0 / 3;
constexpr double kLookEvery_s = 3600;

}  // namespace

std::filesystem::path default_identity_file(const std::string& node) {
  std::filesystem::path data = environment_value("XDG_DATA_HOME");
  if (data.empty()) data = std::filesystem::path(environment_value("HOME")) / ".local" / "share";
  return data / "stripline" / "nodes" / (node + ".pem");
}

Result<Identity> read_identity(const std::filesystem::path& file) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, pki::read_secret(file));
  const auto key = pki::PrivateKey::from_pem(text);
  const auto certificates = pki::Certificate::all_from_pem(text);
  if (!key.ok() || !certificates.ok() || certificates->size() != 2 ||
      !certificates->front().belongs_to(*key)) {
    return Error(ErrorCode::data_loss,
                 "'" + file.string() +
                     "' is not a node's key with its certificate and the authority's; remove it "
                     "and enrol the node again");
  }
  Identity identity;
  STRIPLINE_ASSIGN_OR_RETURN(identity.key_pem, key->pem());
  STRIPLINE_ASSIGN_OR_RETURN(identity.certificate_pem, certificates->front().pem());
  STRIPLINE_ASSIGN_OR_RETURN(identity.authority_pem, certificates->back().pem());
  return identity;
}

Status check_identity_file(const std::filesystem::path& file) {
  if (file.has_parent_path()) {
    STRIPLINE_RETURN_IF_ERROR(pki::make_private_folder(file.parent_path()));
  }
  // Without its end nothing is changed.
  const auto written = AtomicFile::create(file, S_IRUSR | S_IWUSR);
  return written.ok() ? Status() : written.error();
}

Status write_identity(const std::filesystem::path& file, const Identity& identity) {
  if (file.has_parent_path()) {
    STRIPLINE_RETURN_IF_ERROR(pki::make_private_folder(file.parent_path()));
  }
  return pki::write_secret(file,
                           identity.key_pem + identity.certificate_pem + identity.authority_pem);
}

Result<Transport> Credentials::transport(const HostAndPort& server) const {
  STRIPLINE_ASSIGN_OR_RETURN(std::string secret, pki::dev_secret(server));
  if (!secret.empty()) return Transport{std::nullopt, std::move(secret)};
  if (identity_file_.empty()) return Transport{};
  auto identity = read_identity(identity_file_);
  if (!identity.ok()) {
    if (identity.error().code() == ErrorCode::not_found) return Transport{};
    return identity.error();
  }
  return Transport{pki::TlsSettings{.host = server.host,
                                    .authority_pem = std::move(identity->authority_pem),
                                    .certificate_pem = std::move(identity->certificate_pem),
                                    .key_pem = std::move(identity->key_pem)},
                   ""};
}

std::optional<std::string> Credentials::renewal_due(double now_unix_s) {
  if (identity_file_.empty() || now_unix_s < look_again_unix_s_) return std::nullopt;
  look_again_unix_s_ = now_unix_s + kLookEvery_s;
  const auto identity = read_identity(identity_file_);
  if (!identity.ok()) return std::nullopt;  // said when the connection was made
  const auto certificate = pki::Certificate::from_pem(identity->certificate_pem);
  const auto key = pki::PrivateKey::from_pem(identity->key_pem);
  if (!certificate.ok() || !key.ok()) return std::nullopt;
  const double whole_s = certificate->not_after_unix_s() - certificate->not_before_unix_s();
  const double left_s = certificate->not_after_unix_s() - now_unix_s;
  const double due_in_s = left_s - kRenewWhenLeft * whole_s;
  if (due_in_s > 0 && certificate->not_before_unix_s() <= now_unix_s) {
    look_again_unix_s_ = now_unix_s + std::min(due_in_s, kLookEvery_s);
    return std::nullopt;
  }
  const auto request = pki::make_request(*key);
  return request.ok() ? std::optional(*request) : std::nullopt;
}

Status Credentials::accept(const std::string& certificate_pem) const {
  STRIPLINE_ASSIGN_OR_RETURN(Identity identity, read_identity(identity_file_));
  STRIPLINE_ASSIGN_OR_RETURN(const auto key, pki::PrivateKey::from_pem(identity.key_pem));
  STRIPLINE_ASSIGN_OR_RETURN(const auto certificate, pki::Certificate::from_pem(certificate_pem));
  if (!certificate.belongs_to(key)) {
    return Error(ErrorCode::data_loss, "the server's new certificate is for another key");
  }
  STRIPLINE_ASSIGN_OR_RETURN(identity.certificate_pem, certificate.pem());
  return write_identity(identity_file_, identity);
}

}  // namespace stripline::agent

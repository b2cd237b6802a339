// What this agent shows to the server: the certificate of its node, the secret of a server that the
// same user started with --dev, or nothing. Read again for each connection, so that renewal and a
// restarted server need no restart of the agent.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/host_and_port.h"
#include "base/pki/tls_stream.h"
#include "base/result.h"

namespace stripline::agent {

/// How a connection is made.
struct Transport {
  std::optional<pki::TlsSettings> tls;  ///< nullopt: in plain text
  std::string bearer;                   ///< the secret shown with a call; empty: none
};

/// A node's key, its certificate, and that of the authority which signs the server's: one file, so
/// that they always fit together.
struct Identity {
  std::string key_pem;
  std::string certificate_pem;
  std::string authority_pem;
};

/// $XDG_DATA_HOME/stripline/nodes/NODE.pem, else below ~/.local/share. Reads the environment.
std::filesystem::path default_identity_file(const std::string& node);

/// Errors: not_found when there is none; those of pki::read_secret(); data_loss for another file.
Result<Identity> read_identity(const std::filesystem::path& file);
/// Whether write_identity() could write there; makes the folder. Errors: unavailable;
/// failed_precondition for a folder that others may enter.
Status check_identity_file(const std::filesystem::path& file);
/// With mode 0600, in a folder with mode 0700. Errors: those of check_identity_file().
Status write_identity(const std::filesystem::path& file, const Identity& identity);

class Credentials {
 public:
  /// An empty `identity_file`: this agent has no certificate and wants none.
  explicit Credentials(std::filesystem::path identity_file)
      : identity_file_(std::move(identity_file)) {}

  /// For the next connection, to this server. Errors: of a file that exists and cannot be used.
  Result<Transport> transport(const HostAndPort& server) const;

  /// A certificate request, when less than a third of the certificate's time is left, or it is not
  /// valid yet, and none has been made for an hour; nullopt else.
  std::optional<std::string> renewal_due(double now_unix_s);
  /// Stores what the server has answered; the next connection uses it. Errors: data_loss for what
  /// is no certificate of this key, unavailable.
  Status accept(const std::string& certificate_pem) const;

 private:
  std::filesystem::path identity_file_;
  double look_again_unix_s_ = 0;
};

}  // namespace stripline::agent

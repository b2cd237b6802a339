// The servers that this user has logged in to: ~/.config/stripline/config.toml, mode 0600, as it
// holds tokens.
//
//   server = "head:7411"          # unless --server or STRIPLINE_SERVER names another; with commas
//                                 # between them, all that take over from each other
//
//   [servers."head:7411"]
//   authority = """-----BEGIN CERTIFICATE-----..."""
//   token = "stripline-user...."
//
//   [servers."other:7411"]         # after 'login --oidc'
//   authority = """-----BEGIN CERTIFICATE-----..."""
//   token = "eyJ..."
//   issuer = "https://login.example.org"
//   client-id = "stripline"
//   refresh-token = "..."
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/subprocess.h"

namespace stripline::cli {

/// How one server is reached.
struct Context {
  std::string authority_pem;  ///< whose certificate signs the server's
  /// The text of a user's token, or of one that an issuer has given; empty: none is shown.
  std::string token;
  // Where the token is an issuer's; empty with one of the server's own.
  std::string issuer = {};
  std::string client_id = {};
  std::string refresh_token = {};  ///< which brings another when it ends; empty: nothing does
};

struct Contexts {
  std::string server;                      ///< host:port,... of the last login; empty: none
  std::map<std::string, Context> servers;  ///< by host:port
};

/// Errors: data_loss for what is no TOML or lacks a member, with the place. Unknown members are
/// ignored.
Result<Contexts> parse_contexts(std::string_view text);
std::string to_toml(const Contexts& contexts);

/// $XDG_CONFIG_HOME/stripline/config.toml, else below ~/.config. Reads the environment.
std::filesystem::path contexts_file();

/// Keeps other processes of this user from changing that file between a read and a write, until it
/// is destroyed or the process ends.
class ContextsLock {
 public:
  /// Waits for them. Where the file system has no locks, goes on without. Errors: unavailable when
  /// the folder cannot be written to; deadline_exceeded after half a minute.
  static Result<ContextsLock> acquire();

 private:
  explicit ContextsLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

/// No servers when the file does not exist. Errors: failed_precondition when others could read it;
/// data_loss.
Result<Contexts> read_contexts();
/// To be called with a lock, unless the file is new. Errors: unavailable.
Status write_contexts(const Contexts& contexts);

}  // namespace stripline::cli

// An OpenID Connect issuer on loopback, for tests: discovery, keys, the authorization code flow,
// the device flow and refresh tokens, which count once. It signs everybody in at once, as who is
// set.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "server/testing/signer.h"

namespace httplib {
struct Request;
struct Response;
class Server;
}  // namespace httplib

namespace stripline::server::oidc {

class FakeIssuer {
 public:
  FakeIssuer();
  ~FakeIssuer();

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  /// A token of this person, valid for an hour from now; `more` replaces claims, null removes them.
  std::string token(const std::string& name, const Json& groups, const Json& more = {}) const;
  /// Changes who is signed in, and with which claims in the ID token. Who has signed in before
  /// keeps his refresh token, and is the new person from the next one on.
  void sign_in(const std::string& name, const Json& groups, const Json& more = {});
  /// Whether a sign-in by the device flow brings a refresh token.
  void give_refresh_tokens(bool give) { gives_refresh_tokens_ = give; }
  /// Refresh tokens that it has given count no more.
  void end_sign_ins();
  /// Signs by a key that it has not published before.
  void rotate();
  /// What discovery and keys are answered with, unless they are as they should be.
  void set_discovery(const Json& more);
  void set_down(bool down) { down_ = down; }
  /// The browser's visit of an authorization URL: where it is sent to.
  std::string visit(const std::string& authorization_url);
  /// All that it has given away and that is in no one's log: codes and tokens.
  std::vector<std::string> secrets() const;

  const std::string client_id = "stripline";
  std::string client_secret;  ///< empty: a public client
  std::atomic<int> keys_asked = 0;
  std::atomic<int> tokens_asked = 0;
  std::atomic<int> renewals = 0;  ///< refresh tokens that were shown, and counted

 private:
  struct Code {
    std::string redirect_uri, challenge, nonce;
  };
  Json discovery() const;
  void serve();
  bool is_client(const httplib::Request& request) const;
  void answer_code(const httplib::Request& request, httplib::Response& response);
  void answer_device(const httplib::Request& request, httplib::Response& response);
  void answer_refresh(const httplib::Request& request, httplib::Response& response);
  std::string id_token(const std::string& nonce) const;
  Json signed_in(const std::string& nonce);
  // With the mutex held.
  std::string new_secret(const std::string& kind);

  mutable std::mutex mutex_;
  Signer signer_;
  std::string key_id_ = "k1";
  Json keys_;
  Json more_discovery_ = Json::object();
  std::string name_ = "alice";
  Json groups_ = Json::array();
  Json more_ = Json::object();
  std::map<std::string, Code> codes_;
  std::map<std::string, int> devices_;  // device codes, and how often each was shown
  std::string refresh_token_;           // the only one that counts; empty: none does
  std::vector<std::string> secrets_;
  std::atomic<bool> gives_refresh_tokens_ = true;
  std::atomic<bool> down_ = false;
  std::unique_ptr<httplib::Server> server_;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace stripline::server::oidc

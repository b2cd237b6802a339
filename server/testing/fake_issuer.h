// An OpenID Connect issuer on loopback, for tests: discovery, keys, the authorization code flow and
// the device flow. It signs everybody in at once, as who is set.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/json.h"
#include "server/testing/signer.h"

namespace httplib {
class Server;
}

namespace stripline::server::oidc {

class FakeIssuer {
 public:
  FakeIssuer();
  ~FakeIssuer();

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  /// A token of this person, valid for an hour from now; `more` replaces claims, null removes them.
  std::string token(const std::string& name, const Json& groups, const Json& more = {}) const;
  /// Changes who is signed in, and with which claims in the ID token.
  void sign_in(const std::string& name, const Json& groups, const Json& more = {});
  /// Signs by a key that it has not published before.
  void rotate();
  /// What discovery and keys are answered with, unless they are as they should be.
  void set_discovery(const Json& more);
  void set_down(bool down) { down_ = down; }
  /// The browser's visit of an authorization URL: where it is sent to.
  std::string visit(const std::string& authorization_url);

  const std::string client_id = "stripline";
  std::string client_secret;  ///< empty: a public client
  std::atomic<int> keys_asked = 0;
  std::atomic<int> tokens_asked = 0;

 private:
  struct Code {
    std::string redirect_uri, challenge, nonce;
  };
  Json discovery() const;
  void serve();
  std::string id_token(const std::string& nonce) const;

  mutable std::mutex mutex_;
  Signer signer_;
  std::string key_id_ = "k1";
  Json keys_;
  Json more_discovery_ = Json::object();
  std::string name_ = "alice";
  Json groups_ = Json::array();
  Json more_ = Json::object();
  std::map<std::string, Code> codes_;
  std::atomic<bool> down_ = false;
  std::unique_ptr<httplib::Server> server_;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace stripline::server::oidc

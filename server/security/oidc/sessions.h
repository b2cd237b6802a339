// Browsers that somebody has signed in with. Of the secret in their cookie the hash is kept, in
// memory: who was signed in when the server ends signs in again.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "server/security/oidc/verifier.h"

namespace stripline::server::oidc {

class Sessions {
 public:
  /// Beyond `most` sessions, and `most_of_person` of one person, the one that ends first makes
  /// room.
  explicit Sessions(size_t most = 4096, size_t most_of_person = 16)
      : most_(most), most_of_person_(most_of_person) {}

  /// `secret_sha256`: of what the cookie holds.
  void add(const std::string& secret_sha256, Person person, double now_unix_s);
  /// nullopt: there is none, or it has ended.
  std::optional<Person> find(const std::string& secret_sha256, double now_unix_s) const;
  void end(const std::string& secret_sha256);
  size_t size() const;

 private:
  const size_t most_;
  const size_t most_of_person_;
  mutable std::mutex mutex_;
  std::map<std::string, Person> people_;  // by secret_sha256
};

}  // namespace stripline::server::oidc

// An issuer as this server knows it: where it signs people in and which keys it signs with, fetched
// by a thread of its own, so that no caller waits for it.
//
// Thread-safe.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "base/web/http_client.h"
#include "server/security/oidc/key_set.h"

namespace stripline::server::oidc {

struct IssuerOptions {
  std::string url;                                ///< as tokens name it
  std::string client_id;                          ///< this server, as the issuer knows it
  std::filesystem::path client_secret_file = {};  ///< its first line; empty: a public client
  std::filesystem::path authorities_file = {};    ///< web::HttpLimits::authorities_file
  double limit_s = 10;                            ///< for each request
  /// From one look at its keys to the next, when somebody shows an unknown one.
  double least_refresh_s = 5;
  double first_retry_s = 2;  ///< after a failure; doubles
  double last_retry_s = 60;
};

/// What the issuer has published.
struct IssuerFacts {
  std::string authorization_endpoint;  ///< empty: it signs no one in by browser
  std::string token_endpoint;
  bool secret_in_form = false;  ///< how the token endpoint wants the client's secret
  KeySet keys;
};

/// Why its facts may be out of date, or are not there.
struct IssuerFailure {
  std::string why;
  double since_unix_s = 0;
};

/// A code that a browser has brought back from the issuer.
struct CodeOrder {
  std::string code;
  std::string verifier;      ///< PKCE's
  std::string redirect_uri;  ///< the one of the request for the code
};

class Issuer {
 public:
  /// Gets the ID token for a code; called on the issuer's thread.
  using Received = std::function<void(Result<std::string> id_token)>;

  /// Begins to fetch. Errors: invalid_argument for a URL that cannot be one; those of
  /// pki::read_secret_line().
  static Result<std::unique_ptr<Issuer>> start(IssuerOptions options);
  Issuer(const Issuer&) = delete;
  Issuer& operator=(const Issuer&) = delete;
  ~Issuer();

  const IssuerOptions& options() const { return options_; }
  /// nullptr: nothing has been fetched yet. The same pointer until something else is.
  std::shared_ptr<const IssuerFacts> facts() const;
  /// Why the last attempt to fetch failed; nullopt: it succeeded, or is the first one.
  std::optional<IssuerFailure> failure() const;

  /// Someone has shown a key that is not known: its keys are fetched, but not all the time.
  void look_again();
  /// Has the code exchanged. Errors, by `received`: unavailable when the issuer does not answer or
  /// too many wait; invalid_argument when it refuses.
  void exchange(CodeOrder order, Received received);
  /// Ends its thread; who waits for an exchange hears so. Idempotent.
  void stop();

 private:
  struct Waiting {
    CodeOrder order;
    Received received;
    double since_s = 0;
  };

  Issuer(IssuerOptions options, std::string client_secret);
  void run(const std::stop_token& stop);
  void fetch_facts(const std::stop_token& stop);
  Result<IssuerFacts> fetched(const std::stop_token& stop) const;
  Result<std::string> get(const std::string& url, const std::stop_token& stop) const;
  void serve(Waiting waiting, const std::stop_token& stop);
  Result<std::string> exchanged(const CodeOrder& order, const std::stop_token& stop) const;
  web::HttpLimits limits() const;

  const IssuerOptions options_;
  const std::string client_secret_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::shared_ptr<const IssuerFacts> facts_;
  std::optional<IssuerFailure> failure_;
  std::deque<Waiting> waiting_;
  double fetched_s_ = 0;  // when it was last tried
  double next_s_ = 0;     // when it is to be tried again
  double retry_s_ = 0;
  bool stopped_ = false;
  std::jthread thread_;
};

}  // namespace stripline::server::oidc

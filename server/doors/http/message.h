// A request as a handler sees it, and its answer.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stripline::server::http {

inline constexpr int kOk = 200;
inline constexpr int kSeeOther = 303;
inline constexpr int kNotModified = 304;
inline constexpr int kBadRequest = 400;
inline constexpr int kUnauthorised = 401;
inline constexpr int kForbidden = 403;
inline constexpr int kNotFound = 404;
inline constexpr int kWrongMethod = 405;
inline constexpr int kConflict = 409;
inline constexpr int kTooLarge = 413;
inline constexpr int kLineTooLong = 414;
inline constexpr int kWrongType = 415;
inline constexpr int kMisdirected = 421;
inline constexpr int kTooManyRequests = 429;
inline constexpr int kHeadTooLarge = 431;
inline constexpr int kInternalError = 500;
inline constexpr int kNotImplemented = 501;
inline constexpr int kUnavailable = 503;

struct Request {
  bool post = false;                         ///< else GET, or HEAD
  bool head = false;                         ///< HEAD: the answer's body is not sent
  std::string path;                          ///< "/api/v1/nodes", decoded
  std::map<std::string, std::string> query;  ///< decoded; of a name that comes twice, the first
  std::string host;                          ///< "head:7412": whom the caller means
  std::string origin;                        ///< the page that asks, if a browser names it
  std::string bearer;                        ///< what Authorization shows, without "Bearer "
  std::string cookie;                        ///< "a=1; b=2", as the browser sends it
  std::string if_none_match;                 ///< an entity tag
  std::string accept_encoding;               ///< "br, gzip"
  std::string peer;                          ///< the address it comes from
  std::string type;                          ///< of the body: "application/json; charset=utf-8"
  std::string body;
  /// True once the caller has hung up: an answer that takes long need not be worked out any more.
  /// Null where no one may hang up.
  std::shared_ptr<const std::atomic<bool>> hung_up = {};

  bool abandoned() const { return hung_up != nullptr && hung_up->load(); }
};

/// An answer that is worked out and sent piece by piece, so that it is never in memory as a whole.
class Pieces {
 public:
  virtual ~Pieces() = default;

  /// The next piece; empty: there is none yet; nullopt: it has ended. Must not wait. Called on any
  /// thread, by one at a time.
  virtual std::optional<std::string> next() = 0;

  /// Called once, before next(): `wake`, from any thread and until this is destroyed, has next()
  /// called soon. Without it, next() is called a second after it has given an empty piece.
  virtual void on_news(std::function<void()> /*wake*/) {}

  /// Whether it may last for hours, as an event stream does.
  virtual bool endless() const { return false; }
};

inline constexpr const char* kIdentity = "identity";  ///< the encoding that is none

struct Response {
  int status = kOk;
  std::string type = "application/json";
  std::string body = {};
  std::string etag = {};  ///< empty: none, and the answer must not be kept
  /// The body's, where it depends on Accept-Encoding: "br", "gzip" or kIdentity; else empty.
  std::string encoding = {};
  std::string location = {};              ///< with kSeeOther: where the browser goes on
  std::vector<std::string> cookies = {};  ///< headers "Set-Cookie"
  unsigned retry_after_s = 1;             ///< with kTooManyRequests and kUnavailable
  /// In place of a body: bytes that live at least as long as `keeps`, or the program.
  std::string_view lasting = {};
  std::unique_ptr<Pieces> pieces = {};     ///< in place of a body
  std::shared_ptr<const void> keeps = {};  ///< held until the answer is sent
  /// The caller, of whose share of what is not sent yet it is; empty: his address stands for him.
  std::string payer = {};

  std::string_view content() const { return lasting.empty() ? std::string_view(body) : lasting; }
};

}  // namespace stripline::server::http

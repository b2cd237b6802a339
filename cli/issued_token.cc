#include "cli/issued_token.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/cut_text.h"
#include "base/json.h"
#include "base/printable.h"
#include "base/web/base64url.h"
#include "base/web/http_client.h"
#include "base/web/url.h"

namespace stripline::cli {
namespace {

constexpr int kOk = 200;
constexpr int kServerError = 500;  // and above
// What a server reads (docs/security.md).
constexpr size_t kLongestTokenBytes = size_t{8} << 10;
// A call that begins now must still find the token valid.
constexpr double kBeforeEnd_s = 20;
constexpr double kShortestPause_s = 0.05;
constexpr double kUsualPause_s = 5;
constexpr double kLongestPause_s = 60;
constexpr double kLongestCode_s = 1800;
constexpr int kMaxFailures = 5;  // one after the other
constexpr const char* kDeviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

std::string text_in(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

double number_in(const Json& json, const char* name, double otherwise) {
  const auto found = json.find(name);
  const double number = found != json.end() && found->is_number() ? found->get<double>() : 0;
  return std::isfinite(number) && number > 0 ? number : otherwise;
}

Result<Json> object_in(const web::HttpAnswer& answer) {
  auto json = parse_json(answer.body, "the issuer's answer");
  if (!json.ok()) return json.error();
  if (json->is_object()) return json;
  return Error(ErrorCode::data_loss, "the issuer's answer is not a JSON object");
}

struct Said {
  int status = 0;
  Json json;
};

Result<Said> asked(const std::string& url, const std::string& form) {
  STRIPLINE_ASSIGN_OR_RETURN(const web::Url parsed, web::parse_url(url));
  STRIPLINE_ASSIGN_OR_RETURN(const web::HttpAnswer answer, web::fetch({parsed, form}, {}, {}));
  if (answer.status >= kServerError) {
    return Error(ErrorCode::unavailable,
                 printable_line(url) + " answers " + std::to_string(answer.status));
  }
  auto json = object_in(answer);
  if (!json.ok() && answer.status != kOk) {
    return Error(ErrorCode::failed_precondition,
                 printable_line(url) + " answers " + std::to_string(answer.status));
  }
  if (!json.ok()) return json.error();
  return Said{answer.status, std::move(*json)};
}

Error refused(const std::string& issuer, const Json& said) {
  std::string why = text_in(said, "error_description");
  if (why.empty()) why = text_in(said, "error");
  return {ErrorCode::failed_precondition,
          issuer + " refuses" + (why.empty() ? "" : ": " + cut_text(printable_line(why), 200))};
}

Result<Json> discovered(const std::string& issuer) {
  std::string at = issuer;
  if (at.ends_with('/')) at.pop_back();
  STRIPLINE_ASSIGN_OR_RETURN(Said said, asked(at + "/.well-known/openid-configuration", ""));
  if (said.status != kOk || text_in(said.json, "issuer") != issuer) {
    return Error(ErrorCode::data_loss, issuer + " does not describe itself as an issuer");
  }
  return std::move(said.json);
}

Result<IssuedToken> token_in(const Json& said) {
  IssuedToken issued{text_in(said, "id_token"), text_in(said, "refresh_token")};
  if (issued.token.empty()) return Error(ErrorCode::data_loss, "the issuer has sent no ID token");
  if (issued.token.size() > kLongestTokenBytes) {
    return Error(ErrorCode::failed_precondition,
                 "the issuer's ID token has " + std::to_string(issued.token.size()) +
                     " bytes, and servers read at most " + std::to_string(kLongestTokenBytes) +
                     "; its administrator can have it name fewer groups");
  }
  return issued;
}

}  // namespace

Result<IssuedToken> sign_in_by_device(const IssuerOfServer& issuer,
                                      const std::function<void(const DeviceCode&)>& tell,
                                      const std::function<void(double)>& wait) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json about, discovered(issuer.url));
  const std::string begin = text_in(about, "device_authorization_endpoint");
  if (begin.empty()) {
    return Error(ErrorCode::failed_precondition,
                 issuer.url +
                     " has no device flow, by which commands sign in; log in with a token "
                     "of the server");
  }
  const std::string client = "client_id=" + web::percent_encoded(issuer.client_id);
  STRIPLINE_ASSIGN_OR_RETURN(
      const Said code, asked(begin, client + "&scope=" + web::percent_encoded(issuer.scopes)));
  if (code.status != kOk) return refused(issuer.url, code.json);
  const DeviceCode shown{text_in(code.json, "verification_uri"), text_in(code.json, "user_code"),
                         text_in(code.json, "verification_uri_complete")};
  if (shown.url.empty() || shown.code.empty() || text_in(code.json, "device_code").empty()) {
    return Error(ErrorCode::data_loss, issuer.url + " has sent no code to sign in with");
  }
  tell(shown);
  const std::string form =
      client + "&grant_type=" + web::percent_encoded(kDeviceGrant) +
      "&device_code=" + web::percent_encoded(text_in(code.json, "device_code"));
  double pause_s = std::clamp(number_in(code.json, "interval", kUsualPause_s), kShortestPause_s,
                              kLongestPause_s);
  const double limit_s =
      std::min(number_in(code.json, "expires_in", kLongestCode_s), kLongestCode_s);
  int failures = 0;
  std::optional<Error> failure;
  for (double waited_s = 0; waited_s < limit_s; waited_s += pause_s) {
    wait(pause_s);
    const auto said = asked(text_in(about, "token_endpoint"), form);
    if (!said.ok()) {
      // It may be restarting; the user has a browser open there (RFC 8628, section 3.5).
      failure = said.error();
      if (failure->code() != ErrorCode::unavailable || ++failures == kMaxFailures) return *failure;
      pause_s = std::min(2 * pause_s, kLongestPause_s);
      continue;
    }
    failures = 0;
    failure.reset();
    if (said->status == kOk) return token_in(said->json);
    const std::string error = text_in(said->json, "error");
    if (error == "slow_down") {
      pause_s = std::min(pause_s + kUsualPause_s, kLongestPause_s);
    } else if (error != "authorization_pending") {
      return refused(issuer.url, said->json);
    }
  }
  if (failure) return *failure;
  return Error(ErrorCode::failed_precondition, "no one has signed in while the code was valid");
}

Result<IssuedToken> refreshed(const Context& context) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json about, discovered(context.issuer));
  STRIPLINE_ASSIGN_OR_RETURN(
      const Said said,
      asked(text_in(about, "token_endpoint"),
            "grant_type=refresh_token&client_id=" + web::percent_encoded(context.client_id) +
                "&refresh_token=" + web::percent_encoded(context.refresh_token)));
  if (said.status != kOk) return refused(context.issuer, said.json);
  STRIPLINE_ASSIGN_OR_RETURN(IssuedToken issued, token_in(said.json));
  // An issuer that sends no other one lets the old one be used again.
  if (issued.refresh_token.empty()) issued.refresh_token = context.refresh_token;
  return issued;
}

double end_unix_s(const std::string& token) {
  const size_t first = token.find('.');
  const size_t second = first == std::string::npos ? first : token.find('.', first + 1);
  if (second == std::string::npos) return 0;
  const auto claims = web::from_base64url(token.substr(first + 1, second - first - 1));
  if (!claims) return 0;
  const auto json = parse_json(*claims, "the token");
  return json.ok() && json->is_object() ? number_in(*json, "exp", 0) : 0;
}

Result<std::string> bearer_of(const std::string& server, Context& context) {
  const auto lasts = [](const Context& one) {
    return end_unix_s(one.token) > unix_seconds() + kBeforeEnd_s;
  };
  if (lasts(context)) return context.token;
  // Another process of this user may have renewed it, or be about to. A refresh token may count
  // once, and an issuer to which one is shown twice may end the sign-in.
  STRIPLINE_ASSIGN_OR_RETURN(const ContextsLock lock, ContextsLock::acquire());
  STRIPLINE_ASSIGN_OR_RETURN(Contexts contexts, read_contexts());
  const auto kept = contexts.servers.find(server);
  if (kept != contexts.servers.end() && kept->second.issuer == context.issuer) {
    context = kept->second;
    if (lasts(context)) return context.token;
  }
  auto issued = refreshed(context);
  if (!issued.ok()) {
    const Error why = issued.error().with_context("cannot renew the sign-in");
    if (why.code() == ErrorCode::unavailable) return why;
    return Error(why.code(), why.message() + "; 'stripline login --oidc --server " + server +
                                 "' signs in again");
  }
  const std::string before = context.token;
  context.token = std::move(issued->token);
  context.refresh_token = std::move(issued->refresh_token);
  // Servers that take over from each other share a login.
  for (auto& [name, one] : contexts.servers) {
    if (name == server || (one.issuer == context.issuer && one.token == before)) {
      one.token = context.token;
      one.refresh_token = context.refresh_token;
    }
  }
  STRIPLINE_RETURN_IF_ERROR(write_contexts(contexts));
  return context.token;
}

}  // namespace stripline::cli

#include "server/security/people_options.h"

#include <array>
#include <utility>

#include "base/cut_text.h"
#include "base/web/url.h"

namespace stripline::server {
namespace {

Error wrong(const std::string& why) { return {ErrorCode::invalid_argument, why}; }

// Printable characters, as client identifiers and scopes are (RFC 6749, appendix A).
bool is_plain(const std::string& text) {
  return text.find_first_not_of(
             " !#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`"
             "abcdefghijklmnopqrstuvwxyz{|}~") == std::string::npos;
}

Status check_alone(const PeopleArguments& arguments) {
  const std::array<std::pair<const char*, const std::string*>, 9> others{
      {{"--oidc-client-id", &arguments.client_id},
       {"--oidc-client-secret-file", &arguments.client_secret_file},
       {"--oidc-device-client-id", &arguments.device_client_id},
       {"--oidc-roles", &arguments.roles},
       {"--oidc-groups-claim", &arguments.groups_claim},
       {"--oidc-name-claim", &arguments.name_claim},
       {"--oidc-scopes", &arguments.scopes},
       {"--oidc-redirect-url", &arguments.redirect_url},
       {"--oidc-ca-file", &arguments.authorities_file}}};
  for (const auto& [name, value] : others) {
    if (!value->empty()) return wrong(std::string(name) + " has no effect without --oidc-issuer");
  }
  return {};
}

}  // namespace

Result<std::optional<PeopleOptions>> people_options(const PeopleArguments& arguments) {
  if (arguments.issuer.empty()) {
    STRIPLINE_RETURN_IF_ERROR(check_alone(arguments));
    return std::optional<PeopleOptions>();
  }
  PeopleOptions options;
  if (const auto url = web::parse_url(arguments.issuer); !url.ok()) {
    return url.error().with_context("--oidc-issuer");
  } else if (url->target.find('?') != std::string::npos) {
    return wrong("--oidc-issuer: an issuer's URL has no query ('?')");
  }
  options.issuer.url = arguments.issuer;
  if (arguments.client_id.empty()) {
    return wrong(
        "--oidc-issuer needs --oidc-client-id: the name by which the issuer knows this "
        "server, and which its tokens are for");
  }
  for (const auto& [name, id] :
       {std::pair("--oidc-client-id: ", &arguments.client_id),
        std::pair("--oidc-device-client-id: ", &arguments.device_client_id)}) {
    if (is_plain(*id)) continue;
    return wrong(name + quoted_text(*id) + " has characters that no client's name has");
  }
  options.device_client_id = arguments.device_client_id;
  options.issuer.client_id = arguments.client_id;
  options.issuer.client_secret_file = arguments.client_secret_file;
  options.issuer.authorities_file = arguments.authorities_file;
  if (arguments.roles.empty()) {
    return wrong(
        "--oidc-issuer needs --oidc-roles, such as 'admin=hpc-admins,viewer=*': without "
        "it no one could come in");
  }
  auto roles = parse_role_rules(arguments.roles);
  if (!roles.ok()) return roles.error().with_context("--oidc-roles");
  options.roles = std::move(*roles);
  options.claims.name = arguments.name_claim;
  if (!arguments.groups_claim.empty()) options.claims.groups = arguments.groups_claim;
  if (!arguments.scopes.empty()) options.scopes = arguments.scopes;
  if (!is_plain(options.scopes) ||
      (" " + options.scopes + " ").find(" openid ") == std::string::npos) {
    return wrong("--oidc-scopes: " + quoted_text(options.scopes) +
                 " is not a list of scopes, with spaces between them, that has 'openid'");
  }
  if (!arguments.redirect_url.empty()) {
    constexpr std::string_view kEnd = "/login/callback";
    const auto url = web::parse_url(arguments.redirect_url);
    if (!url.ok()) return url.error().with_context("--oidc-redirect-url");
    if (!url->tls || !url->target.ends_with(kEnd)) {
      return wrong(
          "--oidc-redirect-url: it is https://NAME/PATH/login/callback, where browsers "
          "reach this server");
    }
    options.redirect_url = arguments.redirect_url;
  }
  return std::optional(std::move(options));
}

}  // namespace stripline::server

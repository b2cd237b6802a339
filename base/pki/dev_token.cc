#include "base/pki/dev_token.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pwd.h>
#include <unistd.h>

#include "base/host_name.h"
#include "base/pki/secret_file.h"
#include "base/pki/token.h"
#include "base/settings.h"

namespace stripline::pki {
namespace {

bool is_loopback(const std::string& host) {
  in_addr v4{};
  if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
  in6_addr v6{};
  if (::inet_pton(AF_INET6, host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return host == "localhost";
}

std::filesystem::path home() {
  if (std::string set = environment_value("HOME"); !set.empty()) return set;
  const passwd* user = ::getpwuid(::geteuid());  // NOLINT(concurrency-mt-unsafe): at start-up
  return user == nullptr ? "" : user->pw_dir;
}

}  // namespace

Result<std::filesystem::path> dev_token_file(const std::string& port) {
  std::filesystem::path folder = environment_value("XDG_STATE_HOME");
  if (folder.empty()) {
    folder = home();
    if (folder.empty()) {
      return Error(ErrorCode::unavailable,
                   "there is no home for the token of a --dev server; set XDG_STATE_HOME");
    }
    folder = folder / ".local" / "state";
  }
  return folder / "stripline" / ("dev-" + host_name() + "-" + port + ".token");
}

Result<std::string> dev_secret(const HostAndPort& server) {
  if (!is_loopback(server.host)) return std::string();
  const auto path = dev_token_file(server.port);
  if (!path.ok()) return std::string();  // nor has the server one
  const auto text = read_secret_line(path->string());
  if (!text.ok()) {
    if (text.error().code() == ErrorCode::not_found) return std::string();
    return text.error();
  }
  const auto token = parse_token(*text);
  if (!token.ok() || token->kind != Token::Kind::dev) {
    return Error(ErrorCode::data_loss,
                 "'" + path->string() + "' holds no token; remove it, and start the server again");
  }
  return token->secret;
}

}  // namespace stripline::pki

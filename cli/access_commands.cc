#include "cli/access_commands.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <termios.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/exit_codes.h"
#include "base/host_and_port.h"
#include "base/pki/probe.h"
#include "base/pki/secret_file.h"
#include "base/pki/token.h"
#include "base/printable.h"
#include "base/table.h"
#include "base/whole_file.h"
#include "cli/console.h"
#include "cli/contexts.h"
#include "cli/format.h"
#include "cli/issued_token.h"
#include "cli/names.h"
#include "cli/server_notes.h"
#include "cli/service.h"
#include "stripline/v1/access.pb.h"

namespace stripline::cli {
namespace {

constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;
constexpr size_t kMaxAuthorityBytes = size_t{1} << 20;

std::string role_text(v1::Role role) {
  std::string name = v1::Role_Name(role);
  for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return name;
}

v1::Role role_from(const std::string& text) {
  std::string name = text;
  for (char& c : name) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  v1::Role role = v1::ROLE_UNSPECIFIED;
  v1::Role_Parse(name, &role);
  return role;
}

// Typed without being shown.
std::string asked_token() {
  termios shown{};
  const bool terminal = ::tcgetattr(STDIN_FILENO, &shown) == 0;
  if (terminal) {
    print_note("token: ");
    termios hidden = shown;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
  }
  std::string text;
  std::getline(std::cin, text);
  if (terminal) {
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
    print_note("\n");
  }
  return text;
}

// Stores in `who` whose token the server takes it for. The context is then kept for all servers.
Status keep(const Global& global, const std::vector<HostAndPort>& servers, const Context& context,
            std::string& who) {
  // A token that was issued a moment ago is shown as it is: one that is renewed now would be lost.
  Context shown = context;
  shown.refresh_token.clear();
  Service service(global, shown);
  STRIPLINE_ASSIGN_OR_RETURN(const v1::WhoAmIResponse caller,
                             service.call<v1::WhoAmIResponse>(v1::WhoAmIRequest()));
  STRIPLINE_ASSIGN_OR_RETURN(const ContextsLock lock, ContextsLock::acquire());
  STRIPLINE_ASSIGN_OR_RETURN(Contexts contexts, read_contexts());
  contexts.server = global.server;
  for (const HostAndPort& server : servers) contexts.servers[server.text()] = context;
  STRIPLINE_RETURN_IF_ERROR(write_contexts(contexts));
  who = short_name(caller.name()) + " (" + role_text(caller.role()) + ")";
  // One of an issuer is renewed before it ends.
  if (!caller.token_expire_time().empty() && context.refresh_token.empty()) {
    who += ", until " + date_text(caller.token_expire_time());
  }
  return {};
}

Status log_in(const Global& global, const std::string& text, std::string& who) {
  STRIPLINE_ASSIGN_OR_RETURN(const pki::Token token, pki::parse_token(text));
  if (token.kind != pki::Token::Kind::user) {
    return Error(
        ErrorCode::invalid_argument,
        "this is not a user's token; 'stripline token create --role viewer NAME' makes one");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<HostAndPort> servers, parse_servers(global.server));
  Result<std::string> authority = std::string();
  for (const HostAndPort& server : servers) {
    authority = pki::fetch_authority(server, token.authority_sha256, global.timeout_s);
    if (authority.ok()) break;
  }
  if (!authority.ok()) return authority.error();
  return keep(global, servers, Context{*authority, token.text()}, who);
}

// The authority of a server, from a file or from an earlier login.
Result<std::string> known_authority(const std::vector<HostAndPort>& servers,
                                    const std::string& file) {
  if (!file.empty()) return read_whole_file(file, kMaxAuthorityBytes);
  STRIPLINE_ASSIGN_OR_RETURN(const Contexts contexts, read_contexts());
  for (const HostAndPort& server : servers) {
    const auto known = contexts.servers.find(server.text());
    if (known != contexts.servers.end()) return known->second.authority_pem;
  }
  return Error(ErrorCode::invalid_argument,
               "the authority of " + text_of(servers) +
                   " is not known yet: name its certificate "
                   "with --authority, the file tls/authority.pem of the server's data folder");
}

// By the issuer that the server names.
Status sign_in(const Global& global, const std::string& authority_file, std::string& who) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<HostAndPort> servers, parse_servers(global.server));
  Context context;
  STRIPLINE_ASSIGN_OR_RETURN(context.authority_pem, known_authority(servers, authority_file));
  STRIPLINE_ASSIGN_OR_RETURN(const v1::SignIn issuer,
                             Service(global, context).call<v1::SignIn>(v1::GetSignInRequest()));
  if (issuer.issuer().empty()) {
    return Error(ErrorCode::invalid_argument, "the server at " + global.server +
                                                  " has no issuer (--oidc-issuer); log in with a "
                                                  "token");
  }
  if (issuer.client_id().empty()) {
    return Error(ErrorCode::invalid_argument, "the server at " + global.server +
                                                  " names no public client for this command; its "
                                                  "administrator sets --oidc-device-client-id");
  }
  const auto tell = [](const DeviceCode& code) {
    print_note("sign in with any browser:\n  " +
               printable_line(code.complete.empty() ? code.url : code.complete) +
               "\nand see that it shows the code " + printable_line(code.code) + "\n");
  };
  const auto wait = [](double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  };
  STRIPLINE_ASSIGN_OR_RETURN(
      IssuedToken issued,
      sign_in_by_device({issuer.issuer(), issuer.client_id(), issuer.scopes()}, tell, wait));
  context.token = std::move(issued.token);
  context.issuer = issuer.issuer();
  context.client_id = issuer.client_id();
  context.refresh_token = std::move(issued.refresh_token);
  return keep(global, servers, context, who);
}

}  // namespace

Result<int> run(const Global& global, const Login& command) {
  std::string who;
  if (command.oidc) {
    STRIPLINE_RETURN_IF_ERROR(sign_in(global, command.authority_file, who));
    print_note("signed in to " + global.server + " as " + who + "; kept in " +
               contexts_file().string() + "\n");
    return kExitOk;
  }
  STRIPLINE_ASSIGN_OR_RETURN(std::string text, command.token_file.empty()
                                                   ? asked_token()
                                                   : pki::read_secret_line(command.token_file));
  STRIPLINE_RETURN_IF_ERROR(log_in(global, text, who));
  print_note("logged in to " + global.server + " as " + who + "; kept in " +
             contexts_file().string() + "\n");
  return kExitOk;
}

Result<int> run(const Global& global, const Logout& /*command*/) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto lock, ContextsLock::acquire());
  STRIPLINE_ASSIGN_OR_RETURN(auto contexts, read_contexts());
  size_t erased = 0;
  STRIPLINE_ASSIGN_OR_RETURN(const auto servers, parse_servers(global.server));
  for (const HostAndPort& server : servers) erased += contexts.servers.erase(server.text());
  if (erased == 0) return print_error("not logged in to " + global.server, kExitUsage);
  if (contexts.server == global.server) contexts.server.clear();
  STRIPLINE_RETURN_IF_ERROR(write_contexts(contexts));
  print_note("logged out of " + global.server + "\n");
  return kExitOk;
}

Result<int> run(const Global& global, const TokenCreate& command) {
  v1::CreateTokenRequest request;
  request.set_role(role_from(command.role));
  request.set_subject(command.subject);
  request.set_valid_s(command.valid_s);
  request.set_count(command.count);
  const bool to_file = !command.output.empty();
  if (to_file) {
    // The server tells the secret once: what can go wrong with the file goes wrong before.
    std::error_code ignored;
    if (std::filesystem::exists(std::filesystem::symlink_status(command.output, ignored))) {
      return print_error(
          "'" + command.output + "' exists, and may hold another token; name a new file",
          kExitUsage);
    }
  }
  auto file = to_file ? AtomicFile::create(command.output, kOwnerOnly)
                      : Result<AtomicFile>(Error(ErrorCode::not_found, ""));
  if (to_file && !file.ok()) return file.error();
  STRIPLINE_ASSIGN_OR_RETURN(auto made, Service(global).call<v1::CreateTokenResponse>(request));
  if (file.ok()) {
    Status kept = file->write(made.text() + "\n");
    if (kept.ok()) kept = file->commit();
    if (!kept.ok()) {
      return kept.error().with_context(made.token().name() +
                                       " was made and is lost: 'stripline token revoke " +
                                       short_name(made.token().name()) + "' ends it");
    }
    made.clear_text();
    print_note("the token is in " + command.output + ", for this user alone\n");
    if (global.json) print(json_line(made));
  } else {
    print(global.json ? json_line(made) : made.text() + "\n");
  }
  if (!global.json) {
    print_note(made.token().name() + ", valid until " + date_text(made.token().expire_time()) +
               "\n");
  }
  return kExitOk;
}

Result<int> run(const Global& global, const TokenList& /*command*/) {
  Service service(global);
  STRIPLINE_ASSIGN_OR_RETURN(const auto tokens,
                             service.call<v1::ListTokensResponse>(v1::ListTokensRequest()));
  Table table({{"TOKEN"},
               {"ROLE"},
               {"FOR"},
               {"CREATED"},
               {"EXPIRES"},
               {"ENROLLED", Table::Align::right},
               {"LAST USED"},
               {"ENDED"}});
  for (const v1::Token& token : tokens.tokens()) {
    if (global.json) print(json_line(token));
    std::string ended = token.end_time().empty() ? "-" : date_text(token.end_time());
    if (!token.used_by().empty()) ended += " by " + token.used_by();
    table.add({short_name(token.name()), role_text(token.role()),
               token.subject().empty() ? "any node" : token.subject(),
               date_text(token.create_time()), date_text(token.expire_time()),
               token.role() == v1::AGENT
                   ? std::to_string(token.uses()) + " of " + std::to_string(token.count())
                   : "-",
               token.last_used_time().empty() ? "-" : date_text(token.last_used_time()), ended});
  }
  if (global.json) return kExitOk;
  print(table.empty() ? "no tokens\n" : table.text());
  print_server_notes(service, true);
  return kExitOk;
}

Result<int> run(const Global& global, const TokenRevoke& command) {
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto token,
      Service(global).call<v1::Token>(named<v1::RevokeTokenRequest>(
          command.name.starts_with("tokens/") ? command.name : "tokens/" + command.name)));
  if (global.json) print(json_line(token));
  print_note(token.name() + " is revoked\n");
  return kExitOk;
}

Result<int> run(const Global& global, const AuditList& command) {
  constexpr uint32_t kPageSize = 100;
  Service service(global);
  Table table({{"TIME"}, {"WHO"}, {"DID"}, {"TO"}});
  std::string page_token;
  uint32_t left = command.limit;
  do {
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto page,
        service.call<v1::ListAuditEventsResponse>(page_request<v1::ListAuditEventsRequest>(
            static_cast<int>(std::min(left, kPageSize)), page_token)));
    for (const v1::AuditEvent& event : page.events()) {
      if (global.json) print(json_line(event));
      table.add({event.time(), event.actor(), event.action(), event.object()});
      --left;
    }
    page_token = page.next_page_token();
  } while (!page_token.empty() && left > 0);
  if (!global.json) print(table.empty() ? "nothing yet\n" : table.text());
  if (!page_token.empty()) print_note("there are more; --limit shows them\n");
  return kExitOk;
}

}  // namespace stripline::cli

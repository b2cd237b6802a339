#include "base/command_line.h"
#include "cli/grammar_parts.h"
#include "cli/grammars.h"

namespace stripline::cli {
namespace {

void define_login(CLI::App& app, Action& result) {
  const auto login =
      leaf_command<Login>(app, "login", "Show a token to a server from now on", result);
  CLI::Option* file =
      add_value(*login.command, "--token-file", login->token_file,
                "File that holds the token (mode 0600), - for standard input (default: "
                "asked for)",
                "FILE");
  CLI::Option* oidc = login.command->add_flag(
      "--oidc", login->oidc,
      "Sign in with any browser by the issuer of the server, which vouches for people");
  oidc->excludes(file);
  add_value(*login.command, "--authority", login->authority_file,
            "With --oidc: certificate of the server's authority (tls/authority.pem of its "
            "data folder; default: as at the last login there)",
            "FILE")
      ->needs(oidc);
  end_help(
      login.command,
      "Keeps the token and the certificate of the server's authority, which the token names,\n"
      "in ~/.config/stripline/config.toml (mode 0600). This server is then used unless\n"
      "--server or STRIPLINE_SERVER names another. A server started with --dev needs no\n"
      "login by the user who started it. With --oidc what the issuer gives is kept there, and\n"
      "renewed before it ends.\n\n"
      "Exit codes: 0, 2 no token, no issuer or no authority, 3 the server or the issuer does\n"
      "not take it, 4 no server or issuer.\n\n"
      "Examples:\n"
      "  stripline login --server head:7411 --token-file admin.token\n"
      "  stripline login --server head:7411 --oidc --authority "
      "/etc/stripline/authority.pem\n");
  const auto logout = leaf_command<Logout>(app, "logout", "Forget a server's token", result);
  end_help(logout.command,
           "The token stays valid: 'stripline token revoke' ends it. What an issuer has given\n"
           "('login --oidc') counts until you sign out there.\n\n"
           "Exit codes: 0, 2 not logged in there.\n");
}

void define_tokens(CLI::App& app, Action& result) {
  CLI::App* token = app.add_subcommand("token", "Let users and nodes in");
  token->require_subcommand(1);
  token->fallthrough();
  token->footer("Needs the role admin.\n");
  const auto create = leaf_command<TokenCreate>(*token, "create", "Make a token", result);
  add_value(*create.command, "--role", create->role,
            "Role of the user; agent: the token enrols nodes", "ROLE")
      ->required()
      ->check(CLI::IsMember({"agent", "viewer", "operator", "publisher", "admin"}));
  add_value(*create.command, "name", create->subject,
            "The user's name; with --role agent the only node it enrols, or a pattern of "
            "nodes such as 'gpu*' (default: any)",
            "NAME");
  add_value(*create.command, "--count", create->count,
            "With --role agent: number of nodes that it enrols (default: 1)", "N")
      ->transform(count());
  add_value(*create.command, "--valid", create->valid_s,
            "Validity, e.g. 8h (default: 90 days; with --role agent a day)", "TIME")
      ->transform(time_within({.least_s = 1, .most_s = 3650.0 * 86400}));
  add_value(*create.command, "-o,--output", create->output,
            "New file for the token, readable by this user alone (default: printed)", "FILE");
  end_help(create.command,
           "Prints the token, or writes it to FILE with -o, which the server cannot tell again: it "
           "keeps a hash. Give a user's\n"
           "to 'stripline login', a node's to 'stripline-agent --enroll'.\n"
           "viewer reads; operator also runs campaigns; publisher also withdraws models; admin\n"
           "also makes and revokes tokens. Needs the role admin.\n\n"
           "Exit codes: 0, 2 wrong name, FILE exists, 3 not allowed, or a server without "
           "certificates,\n"
           "4 no server.\n\n"
           "Examples:\n"
           "  stripline token create --role operator alice -o alice.token\n"
           "  stripline token create --role agent n17 | ssh n17 stripline-agent --server head:7411 "
           "--enroll -\n"
           "  stripline token create --role agent 'gpu*' --count 200 --valid 8h -o gpus.token\n");
  const auto list =
      leaf_command<TokenList>(*token, "list", "List tokens, not their secrets", result);
  end_help(list.command,
           "Those that ended within the last 30 days, too.\n\n"
           "Exit codes: 0, 3 not allowed, 4 no server.\n");
  const auto revoke = leaf_command<TokenRevoke>(*token, "revoke", "Accept a token no more", result);
  add_required(revoke.command, "token", revoke->name, "Name, as 'token list' shows it", "NAME");
  end_help(revoke.command,
           "A node that it has enrolled stays: see 'stripline node revoke'.\n\n"
           "Exit codes: 0, 2 no such token, 3 not allowed, 4 no server, 9 the only\n"
           "token of an administrator that is valid.\n");
}

}  // namespace

void define_access(CLI::App& app, Action& result) {
  define_login(app, result);
  define_tokens(app, result);
  const auto audit =
      leaf_command<AuditList>(app, "audit", "List who changed what, newest first", result);
  add_value(*audit.command, "--limit", audit->limit, "Maximum number of entries to print", "N")
      ->transform(count())
      ->capture_default_str();
  end_help(audit.command,
           "Needs the role admin.\n\n"
           "Exit codes: 0, 3 not allowed, 4 no server.\n");
}

}  // namespace stripline::cli

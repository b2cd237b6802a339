#include "server/process/options.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstdlib>
#include <netinet/in.h>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/command_line.h"
#include "base/daemon/log.h"
#include "server/doors/listen_address.h"
#include "server/store/postgres_store.h"

namespace stripline::server {
namespace {

constexpr const char* kDefaultListen = "127.0.0.1:7411";
constexpr const char* kVariables = "STRIPLINE_SERVER_";
// A single campaign takes as much.
constexpr uint64_t kLeastKeptBytes = uint64_t{16} << 20;
// Less would not even hold the program.
constexpr uint64_t kLeastFitBytes = uint64_t{256} << 20;

// $XDG_DATA_HOME/stripline, else ~/.local/share/stripline, else ./stripline-data.
std::string default_data_dir() {
  // Before any thread is started.
  if (const char* xdg = std::getenv("XDG_DATA_HOME"); xdg != nullptr && *xdg != '\0') {  // NOLINT
    return std::string(xdg) + "/stripline";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {  // NOLINT
    return std::string(home) + "/.local/share/stripline";
  }
  return "stripline-data";
}

// What stands between commas, without the spaces around it.
std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream rest(text);
  for (std::string word; std::getline(rest, word, ',');) {
    word = word.substr(std::min(word.find_first_not_of(' '), word.size()));
    word.erase(word.find_last_not_of(' ') + 1);
    words.push_back(word);
  }
  return words;
}

bool is_address(const std::string& text) {
  in6_addr address{};  // has room for one of IPv4
  return ::inet_pton(AF_INET, text.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

void declare_init(CLI::App& app, Arguments& arguments) {
  app.require_subcommand(0, 1);
  CLI::App* init =
      app.add_subcommand("init", "Make certificates and the first tokens, once, before serving");
  add_value(*init, "--data-dir", arguments.data_dir, "Folder of the server; created if missing",
            "DIR")
      ->envname(std::string(kVariables) + "DATA_DIR")
      ->default_str(default_data_dir());
  add_value(*init, "--store", arguments.store, "Where the server keeps its data, if not in DIR",
            "URL")
      ->envname(std::string(kVariables) + "STORE");
  add_value(*init, "--host", arguments.hosts,
            "Name or address under which agents and users reach the server; may be "
            "repeated (default: this host's name)",
            "HOST");
  init->footer(
      "Writes a certificate authority and the server's certificate (in DIR/tls) and an\n"
      "administrator's token (DIR/admin.token) and one that enrols the first node\n"
      "(DIR/node.token), readable by this user alone. Prints the command that enrols it. What\n"
      "exists is not overwritten.\n\n"
      "Exit codes: 0 done, 2 wrong host, 4 cannot write, 9 done before, or a server runs there\n\n"
      "Example:\n"
      "  stripline-server init --data-dir /srv/stripline --host head --host 10.0.0.1\n");
  init->callback([&arguments] { arguments.init = true; });
}

void declare_token(CLI::App& app, Arguments& arguments) {
  CLI::App* token = app.add_subcommand("token", "Make a token, on the server's machine");
  add_value(*token, "--data-dir", arguments.data_dir, "Folder of the server", "DIR")
      ->envname(std::string(kVariables) + "DATA_DIR")
      ->default_str(default_data_dir());
  add_value(*token, "--store", arguments.store, "Where the server keeps its data, if not in DIR",
            "URL")
      ->envname(std::string(kVariables) + "STORE");
  add_value(*token, "--role", arguments.token_role, "Role of the user; agent: it enrols nodes",
            "ROLE")
      ->required()
      ->check(CLI::IsMember({"agent", "viewer", "operator", "publisher", "admin"}));
  add_value(*token, "name", arguments.token_order.subject,
            "The user's name; with --role agent the node, or a pattern of nodes such as "
            "'gpu*' (default: any)",
            "NAME");
  add_value(*token, "--count", arguments.token_order.count,
            "Number of nodes that it enrols (default: 1)", "N")
      ->transform(whole_number_from<uint32_t>(1));
  add_value(*token, "--valid", arguments.token_order.valid_s,
            "Validity, e.g. 8h (default: 90 days; with --role agent a day)", "TIME")
      ->transform(time_within({.least_s = 1, .most_s = 3650.0 * 86400}));
  add_value(*token, "-o,--output", arguments.token_output,
            "New file for the token, readable by this user alone (default: printed)", "FILE");
  token->footer(
      "For whoever may write the server's data: writes the token into its database, whether it\n"
      "runs or not, and asks no server. Lets an administrator in again whose token has expired\n"
      "or is lost.\n\n"
      "Exit codes: 0 done, 2 wrong name, FILE exists, no certificates or database there,\n"
      "3 a database of another version, 4 cannot read or write\n\n"
      "Example:\n"
      "  stripline-server token --data-dir /srv/stripline --role admin alice -o alice.token\n");
  token->callback([&arguments] { arguments.token = true; });
}

void declare_service(CLI::App& app, Arguments& arguments) {
  app.add_flag("--dev", arguments.dev,
               "Serve this user's programs on this machine only (loopback), without certificates");
  add_value(app, "--listen", arguments.listen,
            "Address and port (with --dev: a loopback address); port 0 takes any free one",
            "HOST:PORT")
      ->default_str(kDefaultListen);
  add_value(app, "--insecure-listen", arguments.insecure_listen,
            "Serve a trusted network, without encryption or authentication", "HOST:PORT");
  add_value(app, "--data-dir", arguments.data_dir,
            "Folder of certificates, and of the database unless --store names another; created "
            "if missing",
            "DIR")
      ->default_str(default_data_dir());
  add_value(app, "--store", arguments.store,
            "The database: a folder, or postgresql://USER@HOST/DATABASE, where a second server "
            "stands by (default: --data-dir)",
            "DIR|URL");
  app.add_flag("--allow-network-disk", arguments.allow_network_disk,
               "Accept a data folder on a network file system, where a database may be damaged");
  add_value(app, "--backup", arguments.backup,
            "Copy the database to this file and exit; a server may be running", "FILE");
  add_value(app, "--restore", arguments.restore,
            "Make the database of this file, which --backup has made, and exit", "FILE");
  add_value(app, "--metrics-listen", arguments.metrics_listen,
            "Serve /metrics, /healthz and /readyz there: plain HTTP, to everybody", "HOST:PORT");
  add_value(app, "--http-listen", arguments.http_listen,
            "Serve the dashboard and /api/v1 there, to whom --listen is served, too", "HOST:PORT");
  add_value(app, "--http-names", arguments.http_names,
            "Other names, with commas between them, that browsers and monitors use for this "
            "host, as behind a proxy; others are refused",
            "NAMES");
  add_value(app, "--http-proxies", arguments.http_proxies,
            "Addresses, with commas between them, from which a proxy brings many callers of "
            "--http-listen: they have no bound of connections of their own",
            "ADDRESSES");
  add_value(app, "--port-file", arguments.port_file,
            "Write HOST:PORT to this file once the server is ready", "FILE");
  add_value(app, "--log-format", arguments.log_format, "Format of the log on stderr", "FORMAT")
      ->check(one_of(log_formats()))
      ->capture_default_str();
  add_value(app, "--log-level", arguments.log_level, "The least that is logged", "LEVEL")
      ->check(one_of(log_levels()))
      ->capture_default_str();
}

void declare_people(CLI::App& app, PeopleArguments& people) {
  const auto text = [&](const char* name, std::string& value, const char* type, const char* about) {
    add_value(app, name, value, about, type);
  };
  text("--oidc-issuer", people.issuer, "URL",
       "Let people in whom this OpenID Connect issuer vouches for, too; own tokens stay");
  text("--oidc-client-id", people.client_id, "ID",
       "The name by which the issuer knows this server, and which its tokens are for");
  text("--oidc-client-secret-file", people.client_secret_file, "FILE",
       "File (mode 0600) with the secret of this client, if it has one");
  text("--oidc-device-client-id", people.device_client_id, "ID",
       "The public client of 'stripline login --oidc' (default: --oidc-client-id, if it has no "
       "secret)");
  text("--oidc-roles", people.roles, "RULES",
       "Roles of groups, as in 'admin=hpc-admins,operator=hpc-staff,viewer=*'; '*': everybody "
       "whom the issuer lets in");
  text("--oidc-groups-claim", people.groups_claim, "CLAIM",
       "Claim with a person's groups, or a path to it, as realm_access.roles (default: groups)");
  text("--oidc-name-claim", people.name_claim, "CLAIM",
       "Claim with a person's name (default: preferred_username, else sub)");
  text("--oidc-scopes", people.scopes, "SCOPES",
       "What a sign-in asks the issuer for (default: 'openid profile')");
  text("--oidc-redirect-url", people.redirect_url, "URL",
       "Where the issuer sends browsers back to, behind a proxy (default: "
       "https://HOST/login/callback of --http-listen)");
  text("--oidc-ca-file", people.authorities_file, "FILE",
       "PEM file of the authorities for the issuer's certificate (default: the system's)");
}

void declare_times(CLI::App& app, Arguments& arguments) {
  auto& times = arguments.coordinator;
  const auto time = [&](const char* name, double& value, double low, const char* text) {
    add_value(app, name, value, text, "TIME")
        ->transform(time_within({.least_s = low, .most_s = 3600}))
        ->capture_default_str();
  };
  time("--heartbeat", times.heartbeat_interval_s, 0.05,
       "Agents' heartbeats; silent for three times as long, a session is closed");
  time("--lease", times.lease_s, 0.1,
       "A node that gives no sign of life for this time loses its run");
  time("--join-timeout", times.join_timeout_s, 0.1,
       "All ranks of a run must have started and joined by then");
  time("--takeover-time", arguments.takeover_s, 1,
       "On PostgreSQL: a server that gives the database no sign of life for this time is replaced "
       "by the one that stands by");
  add_value(app, "--drain-time", arguments.drain_s,
            "SIGTERM lets active runs go on for this time, and starts no others", "TIME")
      ->transform(time_within({.least_s = 0, .most_s = 3600}))
      ->capture_default_str();
  add_value(app, "--max-failures", times.max_failures,
            "A run lost or failed this number of times fails its campaign", "N")
      ->transform(whole_number(1, 1000))
      ->capture_default_str();
  add_value(app, "--max-queued-per-owner", times.max_queued_per_owner,
            "Campaigns of one owner that have not ended; 0: no limit but that of all, 1000", "N")
      ->transform(whole_number(0, 1000))
      ->capture_default_str();
  add_value(app, "--max-wait", times.max_wait_s,
            "A campaign that waits for nodes for this time fails", "TIME")
      ->transform(time_within({.least_s = 1, .most_s = 1e9}))
      ->default_str("7d");
  add_value(app, "--keep-for", arguments.retention.keep_s,
            "Campaigns that ended this long ago are deleted, but for those from which a model was "
            "fitted (default: never)",
            "TIME")
      ->transform(time_within({.least_s = 3600, .most_s = 1e9}));
  add_value(app, "--keep-size", arguments.retention.keep_bytes,
            "While the database holds more, the oldest of them are deleted (default: never)",
            "SIZE")
      ->transform(size_from(kLeastKeptBytes));
  add_value(app, "--sentinel-interval", arguments.sentinel_interval_s,
            "From one measurement of sentinels of each stable version, or validation of its "
            "settings of another runtime, to the next, while no run is active; 0: never",
            "TIME")
      ->transform(time_within({.least_s = 0, .most_s = 1e9}))
      ->default_str("1d");
  add_value(app, "--stale-policy", arguments.stale_policy,
            "What is done with a stable version whose sentinels are off, or whose settings do not "
            "hold, twice in a row: keep it, rollback to the one before, or replace it also by a "
            "campaign like its own",
            "POLICY")
      ->check(one_of({"keep", "rollback", "replace"}))
      ->capture_default_str();
  add_value(app, "--fit-memory", arguments.fit.memory_bytes,
            "Address space of the process that fits a model, such as 4GiB", "SIZE")
      ->transform(size_from(kLeastFitBytes))
      ->default_str("4GiB");
  add_value(app, "--fit-time", arguments.fit.time_s,
            "A fit that takes longer is ended; the second that comes to no answer fails its "
            "campaign",
            "TIME")
      ->transform(time_within({.least_s = 1, .most_s = 86400}))
      ->capture_default_str();
}

constexpr const char* kFooter =
    "Serves by TLS with the certificates that 'stripline-server init' makes; users show tokens,\n"
    "nodes certificates. Without them: --dev, for the programs of this user on this machine, or\n"
    "--insecure-listen, with which anyone who reaches the port can run campaigns and read\n"
    "samples. Killed at any moment and started again on the same folder, it goes on; nothing it\n"
    "has acknowledged is lost.\n\n"
    "Every option is also a variable and a key of the file that --config names: --data-dir is\n"
    "STRIPLINE_SERVER_DATA_DIR and data-dir. The command line comes first, then the\n"
    "environment, then the file.\n\n"
    "SIGHUP: reads the log level, the certificates and the tokens again. SIGTERM: ends when the\n"
    "active runs have, at the latest after --drain-time. SIGINT: ends at once.\n\n"
    "Exit codes:\n"
    "  0  stopped by SIGTERM or SIGINT\n"
    "  2  wrong option, setting or address\n"
    "  3  the database is damaged, of another program, or of a newer version; certificates are\n"
    "     damaged or have expired, or other users could read a key\n"
    "  4  the data folder or port file cannot be written, the port may not be used\n"
    "  9  the port or the database is in use by another server\n\n"
    "Examples:\n"
    "  stripline-server --dev\n"
    "  stripline-server init --data-dir /srv/stripline --host head\n"
    "  stripline-server --listen 0.0.0.0:7411 --data-dir /srv/stripline\n"
    "  stripline-server token --data-dir /srv/stripline --role admin alice -o alice.token\n"
    "  stripline-server --config /etc/stripline/server.toml --print-config\n"
    "  stripline-server --insecure-listen 0.0.0.0:7411 --data-dir /srv/stripline\n"
    "  stripline-server --data-dir /srv/stripline --backup /backup/stripline.db\n"
    "  stripline-server --data-dir /srv/stripline --store postgresql://stripline@db/stripline\n\n"
    "Manual: docs/server.md\n";

}  // namespace

Invocation::Invocation()
    : app_(std::make_unique<CLI::App>(
          "Plans campaigns, hands their runs to agents, keeps every sample, and fits and publishes "
          "models.",
          "stripline-server")) {
  declare_init(*app_, arguments_);
  declare_token(*app_, arguments_);
  declare_service(*app_, arguments_);
  declare_people(*app_, arguments_.people);
  declare_times(*app_, arguments_);
  app_->footer(kFooter);
  configuration_ =
      std::make_unique<Configuration>(*app_, ConfigurationNames{kVariables, {"backup", "restore"}});
}

Invocation::~Invocation() = default;

Status Invocation::settle() { return configuration_->settle(); }

Result<StoreLocation> Invocation::store() const {
  const std::string& text = arguments_.store;
  if (text.empty()) return StoreLocation{data_dir(), ""};
  if (text.find("://") == std::string::npos) return StoreLocation{text, ""};
  if (!text.starts_with("postgresql://") && !text.starts_with("postgres://")) {
    return Error(ErrorCode::invalid_argument,
                 "--store: it is a folder or postgresql://USER@HOST/DATABASE");
  }
  if (const Status url = check_postgres_url(text); !url.ok()) {
    return url.error().with_context("--store");
  }
  return StoreLocation{"", text};
}

std::filesystem::path Invocation::data_dir() const {
  return arguments_.data_dir.empty() ? default_data_dir() : arguments_.data_dir;
}

Result<ServerOptions> Invocation::server_options() const {
  ServerOptions options;
  options.coordinator = arguments_.coordinator;
  options.retention = arguments_.retention;
  options.sentinels.interval_s = arguments_.sentinel_interval_s;
  options.sentinels.policy = *stale_policy_from_string(arguments_.stale_policy);
  options.fitter = fit_in_child("/proc/self/exe", arguments_.fit);
  options.allow_network_disk = arguments_.allow_network_disk;
  options.data_dir = data_dir();
  STRIPLINE_ASSIGN_OR_RETURN(options.store, store());
  options.takeover_s = arguments_.takeover_s;
  const bool insecure = !arguments_.insecure_listen.empty();
  if (arguments_.dev && insecure) {
    return Error(ErrorCode::invalid_argument,
                 "--dev and --insecure-listen exclude each other; give one of them");
  }
  if (insecure && !arguments_.listen.empty()) {
    return Error(ErrorCode::invalid_argument,
                 "--insecure-listen takes the address itself; leave --listen out");
  }
  options.protection = arguments_.dev ? Protection::own_user
                       : insecure     ? Protection::none
                                      : Protection::certificates;
  const std::string listen = insecure ? arguments_.insecure_listen : arguments_.listen;
  STRIPLINE_ASSIGN_OR_RETURN(options.listen,
                             parse_listen_address(listen.empty() ? kDefaultListen : listen));
  if (arguments_.dev && !options.listen.is_loopback()) {
    return Error(ErrorCode::invalid_argument, "--dev serves loopback addresses only, not " +
                                                  options.listen.text() +
                                                  "; use --insecure-listen for a trusted network");
  }
  if (!arguments_.metrics_listen.empty()) {
    const auto metrics = parse_listen_address(arguments_.metrics_listen);
    if (!metrics.ok()) return metrics.error().with_context("--metrics-listen");
    options.monitoring = *metrics;
  }
  if (!arguments_.http_listen.empty()) {
    const auto http = parse_listen_address(arguments_.http_listen);
    if (!http.ok()) return http.error().with_context("--http-listen");
    if (arguments_.dev && !http->is_loopback()) {
      return Error(ErrorCode::invalid_argument,
                   "--http-listen: --dev serves loopback addresses only, not " + http->text());
    }
    options.http = *http;
  }
  for (const std::string& name : listed(arguments_.http_names)) {
    if (name.empty() || name.find_first_of(":/ ") != std::string::npos) {
      return Error(ErrorCode::invalid_argument,
                   "--http-names: '" + name + "' is not a host's name: write it without a port");
    }
    options.http_names.push_back(name);
  }
  for (const std::string& address : listed(arguments_.http_proxies)) {
    if (!is_address(address)) {
      return Error(
          ErrorCode::invalid_argument,
          "--http-proxies: '" + address +
              "' is not an address as in 192.0.2.1 or 2001:db8::1: write it without a port");
    }
    options.http_proxies.push_back(address);
  }
  STRIPLINE_ASSIGN_OR_RETURN(options.people, people_options(arguments_.people));
  if (options.people && options.protection != Protection::certificates) {
    return Error(ErrorCode::invalid_argument,
                 "--oidc-issuer: people sign in to a server with certificates; leave " +
                     std::string(insecure ? "--insecure-listen" : "--dev") + " out");
  }
  if (options.coordinator.lease_s <= options.coordinator.heartbeat_interval_s) {
    return Error(ErrorCode::invalid_argument,
                 "--lease must be longer than --heartbeat: every heartbeat renews the lease");
  }
  return options;
}

}  // namespace stripline::server

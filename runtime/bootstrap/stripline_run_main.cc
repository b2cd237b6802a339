// stripline-run: starts the ranks of a job, on this host or on several through ssh. `stripline run`
// is this program.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>

#include <CLI/CLI.hpp>

#include <stripline/global_ptr.h>

#include "base/cancel_signals.h"
#include "base/command_line.h"
#include "base/descriptors.h"
#include "base/exit_codes.h"
#include "base/pushed_models.h"
#include "base/quantity.h"
#include "base/settings.h"
#include "runtime/bootstrap/host_share.h"
#include "runtime/bootstrap/hosts_command.h"
#include "runtime/bootstrap/hosts_launcher.h"
#include "runtime/bootstrap/job.h"
#include "runtime/bootstrap/labelled_output.h"
#include "runtime/machine/preflight.h"

namespace {

using namespace stripline;  // NOLINT(google-build-using-namespace)

constexpr const char* kDescription =
    "Starts RANKS copies of PROGRAM on this host, or on several, as the ranks of one job, "
    "introduces\n"
    "them to each other, and ends all of them as soon as one fails.\n\n"
    "  stripline-run -n 2 -- ./transpose 4096\n"
    "  stripline-run -n 8 --hosts node1,node2 -- ./transpose 4096\n"
    "  stripline-run -n 8 --fabric emulated:opteron-vapi --clock virtual -- ./transpose 4096\n"
    "  stripline-run -n 2 --model cluster.stripline.json -- ./transpose 4096\n";

constexpr const char* kModelVariable = "STRIPLINE_MODEL";
constexpr const char* kNoModel = "none";

constexpr const char* kFooter =
    "Options that are not given keep the value of their environment variable: STRIPLINE_FABRIC,\n"
    "STRIPLINE_CLOCK, STRIPLINE_MODEL, STRIPLINE_SEGMENT_BYTES, STRIPLINE_SEED, and so on: "
    "--verbose\n"
    "shows all of them.\n"
    "'stripline doctor' shows the fabrics of this host.\n\n"
    "Exit codes:\n"
    "  0  every rank left the job and exited with 0\n"
    "  2  wrong usage: unknown option, fabric or profile; an access out of bounds\n"
    "  3  the model file is malformed or of another machine; the host cannot reproduce a profile\n"
    "  4  the provider cannot be used, a host not be reached, or resources are exhausted\n"
    "  5  a rank was killed, lost a peer, or ended without leaving the job; a host was lost\n"
    "  6  a time limit passed\n"
    "  7  cancelled by SIGINT or SIGTERM, or SIGHUP without nohup\n"
    "  any other: that of the first rank, by number, that exited with one of its own";

/// The usage line; the command is split off before CLI11 sees it.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: stripline-run [OPTIONS] -- PROGRAM [ARGS...]\n";
  }
};

int usage_error(const std::string& message) {
  std::fputs(usage_line("stripline-run", message).c_str(), stderr);
  return kExitUsage;
}

/// Options before "--", the command after it.
std::optional<size_t> find_separator(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--") == 0) return static_cast<size_t>(i);
  }
  return std::nullopt;
}

/// What runs on each host of a job of several; in the place of a command line.
int serve_launcher() {
  if (::isatty(STDIN_FILENO) != 0) {
    return usage_error(std::string(bootstrap::kHostShareArgument) +
                       " is for launchers; to start a job on several hosts use --hosts");
  }
  UniqueFd in(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  UniqueFd out(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  // Whatever else is read or printed here is none of the launcher's messages.
  const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ::dup2(nothing.get(), STDIN_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  return bootstrap::serve_host_share(std::move(in), std::move(out));
}

void warn(const std::string& what) {
  std::fprintf(stderr, "stripline-run: warning: %s\n", what.c_str());
}

int refuse(const Error& error) {
  std::fprintf(stderr, "stripline-run: %s\n", error.message().c_str());
  return exit_code_for(error.code());
}

/// Looks whether the ranks can be started on this host. Returns the exit code if not.
std::optional<int> check_this_host(const bootstrap::HostsCommand& command,
                                   const bootstrap::LaunchOptions& launch) {
  if (!command.ssh.empty() || !command.exported.empty()) {
    return usage_error("--ssh and --export are for several hosts; name these with --hosts");
  }
  const machine::Preflight preflight = machine::check_host(
      machine::plan_job(launch.ranks, launch.environment), machine::HostRoom::read());
  for (const std::string& warning : preflight.warnings) warn(warning);
  if (preflight.refusal) return refuse(*preflight.refusal);
  return std::nullopt;
}

/// Makes of the job one on several hosts, of which each looks for itself. Likewise.
std::optional<int> check_hosts(const bootstrap::HostsCommand& command, bool ranks_given,
                               bootstrap::LaunchOptions& launch, bootstrap::HostsOptions& hosts) {
  auto options =
      bootstrap::hosts_options(command, ranks_given ? std::optional(launch.ranks) : std::nullopt);
  if (!options.ok()) return usage_error(options.error().message());
  hosts = *std::move(options);
  launch.ranks = hosts.shares.back().first_rank + hosts.shares.back().ranks;
  launch.argv.front() = bootstrap::program_for_hosts(launch.argv.front(), hosts.folder);
  const Status added = bootstrap::add_environment_for_hosts(command.exported, launch.environment);
  if (!added.ok()) return usage_error(added.error().message());
  if (hosts.shares.size() > 1 &&
      value_with(launch.environment, "STRIPLINE_FABRIC").starts_with("emulated:")) {
    return usage_error("emulated networks exist within one host; leave --hosts out");
  }
  hosts.warn = warn;
  return std::nullopt;
}

/// Without another model, the one that the server has pushed to this host is used, and said.
void use_pushed_model(std::map<std::string, std::string>& environment) {
  if (environment.contains(kModelVariable) || !value_with(environment, kModelVariable).empty()) {
    return;
  }
  const std::string fabric = value_with(environment, "STRIPLINE_FABRIC");
  const auto pushed = find_pushed_model(pushed_model_folders(), fabric.empty() ? "tcp" : fabric);
  if (!pushed) return;
  environment[kModelVariable] = pushed->file.string();
  environment["STRIPLINE_MODEL_MAY_NOT_FIT"] = "1";  // no one here has asked for it
  std::fprintf(
      stderr,
      "stripline-run: using model %s (sha256 %s), pushed to this host; --model none: without\n",
      pushed->name.c_str(), pushed->sha256.c_str());
}

/// PATH or PATH:N, with the ranks of a node.
CLI::Validator same_node_path() {
  return {[](std::string& text) {
            std::string path = text.substr(0, text.find(':'));
            const std::string wrong = one_of({"mapped", "cma", "network"})(path);
            if (!wrong.empty() || path.size() == text.size()) return wrong;
            std::string ranks = text.substr(path.size() + 1);
            return whole_number(1, kMaxRanks)(ranks);
          },
          "{mapped, cma, network}[:N]"};
}

}  // namespace

int main(int argc, char** argv) {
  prepare_descriptors();
  if (argc == 2 && std::strcmp(argv[1], bootstrap::kHostShareArgument) == 0) {
    return serve_launcher();
  }
  CLI::App app(kDescription, "stripline-run");
  app.footer(kFooter);
  app.formatter(std::make_shared<HelpFormatter>());
  bootstrap::JobOptions job;
  std::string fabric;
  std::string clock;
  std::string model;
  std::string segment;
  std::string same_node;
  std::string tuning;
  std::string progress;
  std::string interface;
  std::string bind = "core";
  std::optional<uint64_t> seed;
  const auto* ranks =
      app.add_option("-n,--ranks", job.launch.ranks,
                     "Ranks to start (default: 1, and with --hosts one for each slot)")
          ->type_name("N")
          ->transform(whole_number(1, kMaxRanks));
  bootstrap::HostsCommand hosts;
  bootstrap::add_hosts_options(app, hosts);
  app.add_option("--iface", interface,
                 "Network interface through which ranks communicate on IP networks (default: this "
                 "host's loopback; with --hosts, the addresses by which ssh reaches the hosts)")
      ->type_name("NAME");
  app.add_option("--fabric", fabric,
                 "Network: a libfabric provider (tcp, shm, verbs, ...) or "
                 "emulated:PROFILE[,key=value...] (default: tcp)")
      ->type_name("F");
  app.add_option("--clock", clock,
                 "real, or virtual (emulated fabrics only): time is computed, results repeat "
                 "exactly (default: real)")
      ->type_name("C")
      ->check(one_of({"real", "virtual"}));
  app.add_option(
         "--model", model,
         "Tuned model file (NAME.stripline.json), or none; default: the one that this host's "
         "agent was given for the network (docs/admin.md), except with --hosts")
      ->type_name("FILE");
  app.add_option(
         "--same-node", same_node,
         "How ranks of this host reach each other's segments: mapped (loads and stores), cma "
         "(copied by the kernel) or network (through the fabric; for measuring it); PATH:N takes "
         "every N ranks for a node by themselves; default: mapped")
      ->type_name("PATH[:N]")
      ->check(same_node_path());
  app.add_option("--tuning", tuning,
                 "Replace choices of the model, or defaults, to measure others: "
                 "NAME=VALUE,... (docs/programming.md, \"Models\")")
      ->type_name("SETTINGS");
  app.add_option("--progress", progress,
                 "Who serves a rank's peers: manual (its calls), thread (also a thread of the "
                 "runtime while it computes), auto (also the provider's thread) or tuned (a thread "
                 "from where it pays by the model); default: manual")
      ->type_name("HOW")
      ->check(one_of({"manual", "thread", "auto", "tuned"}));
  app.add_option("--segment", segment,
                 "Shared memory of each rank, with suffix K, M, G or T (default: 256M)")
      ->type_name("SIZE");
  bool overcommit = false;
  app.add_flag("--overcommit", overcommit,
               "Start the ranks although this host, or its control group, has not the memory for "
               "all of them");
  app.add_option("--seed", seed, "Seed of the jitter of emulated fabrics (default: 0)")
      ->type_name("N")
      ->transform(whole_number_from<uint64_t>(0));
  app.add_option("--bind", bind,
                 "core: each rank on a core of its own, spread over NUMA nodes, or on a hardware "
                 "thread of its own where ranks outnumber cores, beside other jobs of "
                 "stripline-run; none: as "
                 "the scheduler likes")
      ->type_name("B")
      ->check(one_of({"core", "none"}))
      ->capture_default_str();
  CLI::Option* const join_timeout =
      app.add_option("--join-timeout", job.join_timeout_s,
                     "Give up when a rank has not joined the job after this time (default: 60)")
          ->type_name("TIME")
          ->transform(time_within(kTimeLimits));
  bool debug = false;
  app.add_flag("--debug", debug,
               "Check what the program does: accesses to freed memory, conflicting accesses, "
               "collective calls that do not match (docs/debugging.md)");
  bool bulk = false;
  app.add_flag("--bulk", bulk,
               "Blocking copies (memput, memget, memcpy, larger puts and gets of OpenSHMEM) do not "
               "wait before the next synchronisation, as inside of a bulk_region (docs/bulk.md)");
  bool coalesce = false;
  app.add_flag("--coalesce", coalesce,
               "Atomic operations of OpenSHMEM programs travel together, and gets of single values "
               "are read ahead (docs/openshmem.md)");
  bool label = false;
  app.add_flag("--label", label,
               "Put the rank's number in front of each line that ranks print, and write lines as a "
               "whole");
  bool verbose = false;
  app.add_flag(
      "-v,--verbose", verbose,
      "Show the ranks (host, process, processors, NUMA node, network), how they reach each "
      "other, and every setting with its origin on standard error when the job starts");
  std::string trace;
  app.add_flag("--trace{sites}", trace,
               "Say at the end what was chosen for loops and nests, predicted and measured, and "
               "what tuned plans saved; --trace=summary: only the latter")
      ->check(one_of({"off", "summary", "sites"}));
  std::string report;
  app.add_option("--report", report,
                 "Tell at the end what the model predicted and what was measured, at each place of "
                 "the program: to a file, or to agent, that of this host, which tells its server "
                 "('stripline feedback list')")
      ->type_name("FILE|agent");
  app.add_option("--timeout", job.time_limit_s,
                 "End the job after this time, e.g. 90, 1:30, 2h (default: no limit)")
      ->type_name("TIME")
      ->transform(time_within(kTimeLimits));

  const auto separator = find_separator(argc, argv);
  const int options = static_cast<int>(separator.value_or(static_cast<size_t>(argc)));
  // CLI11 takes it for -n with the value p.
  for (int i = 1; i < options; ++i) {
    if (std::strcmp(argv[i], "-np") == 0)
      return usage_error("unknown option -np; did you mean -n?");
  }
  constexpr const char* kProgramComesLast =
      "write '--' before the program: stripline run -n 2 -- PROGRAM [ARGS...]";
  if (const auto end = read_command_line(app, options, argv, kProgramComesLast)) return *end;
  if (!separator || *separator + 1 == static_cast<size_t>(argc)) {
    return usage_error("no program to start; name it after '--'");
  }
  job.launch.argv.assign(argv + *separator + 1, argv + argc);
  job.launch.bind = bind == "core" ? bootstrap::Bind::core : bootstrap::Bind::none;
  auto& environment = job.launch.environment;
  if (!fabric.empty()) environment["STRIPLINE_FABRIC"] = fabric;
  if (!clock.empty()) environment["STRIPLINE_CLOCK"] = clock;
  if (!same_node.empty()) environment["STRIPLINE_SAME_NODE"] = same_node;
  if (!tuning.empty()) environment["STRIPLINE_TUNING"] = tuning;
  if (!progress.empty()) environment["STRIPLINE_PROGRESS"] = progress;
  if (!interface.empty()) environment["STRIPLINE_IFACE"] = interface;
  if (!model.empty()) environment[kModelVariable] = model == kNoModel ? "" : model;
  if (!hosts.given()) use_pushed_model(environment);
  const char* usual = std::getenv("STRIPLINE_JOIN_TIMEOUT");  // NOLINT(concurrency-mt-unsafe)
  if (join_timeout->count() > 0) {
    // Ranks do not need it, but show it.
    environment["STRIPLINE_JOIN_TIMEOUT"] = join_timeout->as<std::string>();
  } else if (usual != nullptr && *usual != '\0') {
    const auto seconds = parse_seconds(usual, kTimeLimits);
    if (!seconds.ok()) {
      return usage_error(seconds.error().with_context("STRIPLINE_JOIN_TIMEOUT").message());
    }
    job.join_timeout_s = *seconds;
  }
  if (debug) environment["STRIPLINE_DEBUG"] = "1";
  if (bulk) environment["STRIPLINE_BULK"] = "1";
  if (coalesce) environment["STRIPLINE_COALESCE"] = "1";
  if (overcommit) environment["STRIPLINE_OVERCOMMIT"] = "1";
  if (verbose) environment["STRIPLINE_VERBOSE"] = "1";
  if (!trace.empty()) environment["STRIPLINE_TRACE"] = trace;
  if (!report.empty()) environment["STRIPLINE_REPORT"] = report;
  if (seed) environment["STRIPLINE_SEED"] = std::to_string(*seed);
  if (!segment.empty()) {
    const auto bytes = parse_bytes(segment, "--segment");
    if (!bytes.ok()) return usage_error(bytes.error().message());
    if (*bytes == 0) return usage_error("--segment is zero; a segment has at least one byte");
    environment["STRIPLINE_SEGMENT_BYTES"] = std::to_string(*bytes);
  }
  std::string by_option;
  for (const auto& [name, value] : environment) by_option += name + " ";
  environment[kOptionsVariable] = by_option;

  bootstrap::HostsOptions elsewhere;
  if (const auto end = hosts.given() ? check_hosts(hosts, ranks->count() > 0, job.launch, elsewhere)
                                     : check_this_host(hosts, job.launch)) {
    return *end;
  }

  if (verbose) {
    job.on_ready = [](const bootstrap::StartedRanks& started) {
      if (started.why_unbound().empty()) return;
      std::fprintf(stderr, "stripline-run: ranks are not bound: %s\n",
                   started.why_unbound().c_str());
    };
  }

  const auto watch = bootstrap::watch_settings(environment);
  if (!watch.ok()) return usage_error(watch.error().message());
  job.watch = *watch;
  job.on_stall = [&](const std::string& where) {
    std::fprintf(stderr,
                 "stripline-run: no rank has made progress for %g s; the job goes on. Where the "
                 "ranks are:\n%s\n",
                 job.watch.stall_notice_s, where.c_str());
  };

  std::optional<bootstrap::LabelledOutput> labels;
  if (hosts.given()) {
    elsewhere.label = label;
    elsewhere.answer_limit_s = job.join_timeout_s;
    elsewhere.silence_limit_s = job.watch.peer_timeout_s;
    job.start = [&elsewhere](const bootstrap::LaunchOptions& launch) {
      return bootstrap::HostsLauncher::start(launch, elsewhere);
    };
  } else if (label) {
    auto started = bootstrap::LabelledOutput::start(job.launch.ranks);
    if (!started.ok()) return refuse(started.error());
    labels.emplace(*std::move(started));
    job.launch.labels = &*labels;
  }

  const UniqueFd signals = catch_cancel_signals();
  job.cancel_fd = signals.get();
  // Hosts that are not heard of for long count as lost.
  const UniqueFd suspend = hosts.given() ? UniqueFd() : catch_suspend_signal();
  job.suspend_fd = suspend.get();
  const bootstrap::JobOutcome outcome = bootstrap::run_job(job);
  labels.reset();  // what ranks have said comes before what is said of them
  if (!outcome.message.empty()) {
    std::fprintf(stderr, "stripline-run: %s\n", outcome.message.c_str());
  }
  if (!outcome.where.empty()) {
    std::fprintf(stderr, "Where the ranks were:\n%s\n", outcome.where.c_str());
  }
  return outcome.exit_code;
}

#include "tests/e2e/slurm_cluster.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <random>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

namespace stripline::e2e {
namespace {

constexpr double kStartLimit_s = 20;
constexpr double kStopLimit_s = 5;

/// Ports that no one uses now.
std::array<int, 2> free_ports() {
  std::array<int, 2> ports{};
  std::array<UniqueFd, 2> sockets;
  for (size_t i = 0; i < ports.size(); ++i) {
    sockets[i] = UniqueFd(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(sockets[i].get(), generic, size) == 0 &&
        ::getsockname(sockets[i].get(), generic, &size) == 0) {
      ports[i] = ntohs(address.sin_port);
    }
  }
  return ports;
}

/// This host as Slurm calls it: without domain.
std::string node_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  const std::string whole = name.data();
  return whole.substr(0, whole.find('.'));
}

/// A daemon's path; Debian's are not in every user's PATH.
std::string daemon(const std::string& name) {
  const auto found = find_in_path(name);
  const std::string usual = "/usr/sbin/" + name;
  if (!found.empty()) return found;
  return ::access(usual.c_str(), X_OK) == 0 ? usual : std::string();
}

}  // namespace

std::string SlurmCluster::missing() {
  for (const char* name : {"munged", "slurmctld", "slurmd", "srun", "sinfo"}) {
    if (daemon(name).empty()) {
      return std::string(name) + " is not installed (Debian: apt-get install slurm-wlm munge)";
    }
  }
  return ::geteuid() == 0 ? "" : "slurmd needs root to start steps";
}

SlurmCluster::SlurmCluster() {
  write_configuration();
  const auto at = [this](const char* name) { return (folder_ / name).string(); };
  munged_.emplace(folder_, "munged",
                  std::vector<std::string>{
                      daemon("munged"), "--foreground", "--force", "--key-file=" + at("munge.key"),
                      "--socket=" + at("munge.sock"), "--pid-file=" + at("munged.pid"),
                      "--log-file=" + at("munged.log"), "--seed-file=" + at("munge.seed")});
  const bool answers =
      eventually([&] { return std::filesystem::exists(folder_ / "munge.sock"); }, kStartLimit_s);
  controller_.emplace(folder_, "slurmctld",
                      std::vector<std::string>{daemon("slurmctld"), "-D", "-f", at("slurm.conf")});
  // Steps outlive a slurmd that is killed, but not their process namespace.
  std::vector<std::string> node = {"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"};
  node.emplace_back("true");
  const bool contained = run_program(node).exit_code == 0;
  node.pop_back();
  if (!contained) node.clear();
  node.insert(node.end(), {daemon("slurmd"), "-D", "-f", at("slurm.conf"), "-N", node_name()});
  node_.emplace(folder_, "slurmd", node);
  const std::map<std::string, std::string> environment = {{"SLURM_CONF", at("slurm.conf")}};
  const bool idle =
      answers &&
      eventually(
          [&] {
            return run_program({"sinfo", "-h", "-o", "%T"}, 5, environment).out == "idle\n";
          },
          kStartLimit_s);
  if (!idle) failure_ = "the node has not become idle\n" + log();
}

std::string SlurmCluster::log() const {
  return munged_->err() + read_file(folder_ / "munged.log") + controller_->err() + node_->err();
}

SlurmCluster::~SlurmCluster() {
  // slurmd first: the others hear of it.
  for (auto* process : {&node_, &controller_, &munged_}) {
    if (!*process) continue;
    (*process)->process().signal(SIGTERM);
    (void)(*process)->finish(kStopLimit_s);
  }
}

void SlurmCluster::write_configuration() const {
  // Slurm wants to be sure that no one else can write here.
  std::filesystem::permissions(folder_ / ".", std::filesystem::perms(0755));
  std::filesystem::create_directories(folder_ / "state");
  std::filesystem::create_directories(folder_ / "spool");
  {
    std::ofstream key(folder_ / "munge.key", std::ios::binary);
    std::random_device random;
    for (int i = 0; i < 256; ++i) key << static_cast<char>(random());
  }
  std::filesystem::permissions(folder_ / "munge.key", std::filesystem::perms(0400));
  // By default in /tmp, under the job's number: what a killed step has left there breaks the next.
  std::filesystem::create_directories(folder_ / "pmix");
  std::ofstream(folder_ / "mpi.conf")
      << "PMIxCliTmpDirBase=" << (folder_ / "pmix").string() << "\n";
  const auto ports = free_ports();
  const std::string node = node_name();
  const std::string folder = (folder_ / "").string();
  // No control groups, so that it runs in containers; four processors whatever the host has.
  std::ofstream(folder_ / "slurm.conf")
      << "ClusterName=stripline\nSlurmctldHost=" << node << "(127.0.0.1)\n"
      << "SlurmUser=root\nSlurmdUser=root\n"
      << "AuthType=auth/munge\nAuthInfo=socket=" << folder << "munge.sock\nCredType=cred/munge\n"
      << "SlurmctldPort=" << ports[0] << "\nSlurmdPort=" << ports[1] << "\n"
      << "StateSaveLocation=" << folder << "state\nSlurmdSpoolDir=" << folder << "spool\n"
      << "SlurmctldPidFile=" << folder << "slurmctld.pid\nSlurmdPidFile=" << folder
      << "slurmd.pid\n"
      << "ProctrackType=proctrack/pgid\nTaskPlugin=task/none\nSwitchType=switch/none\n"
      << "JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n"
      << "SchedulerType=sched/builtin\nSelectType=select/linear\nMpiDefault=none\n"
      << "SlurmdParameters=config_overrides\nReturnToService=2\n"
      << "NodeName=" << node << " NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN\n"
      << "PartitionName=tests Nodes=" << node << " Default=YES State=UP OverSubscribe=FORCE:8\n";
}

Finished SlurmCluster::srun(const std::vector<std::string>& arguments,
                            const std::map<std::string, std::string>& environment) const {
  // Quiet: whether a job had to wait for the one before to be cleared away is a matter of luck.
  std::vector<std::string> argv = {"srun", "--input=none", "--quiet"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  // Looking for leaks stops a rank's threads; one that Slurm kills meanwhile holds its step for 30
  // s.
  std::map<std::string, std::string> all = {{"ASAN_OPTIONS", "detect_leaks=0"},
                                            {"SLURM_CONF", (folder_ / "slurm.conf").string()},
                                            {"STRIPLINE_SEGMENT_BYTES", "1M"}};
  all.insert(environment.begin(), environment.end());
  return run_program(argv, 30, all);
}

Program SlurmCluster::start_srun(const TempFolder& folder,
                                 const std::vector<std::string>& arguments) const {
  std::vector<std::string> argv = {"srun", "--input=none", "--quiet"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return Program(
      folder, "srun", argv,
      {{"SLURM_CONF", (folder_ / "slurm.conf").string()}, {"STRIPLINE_SEGMENT_BYTES", "1M"}});
}

}  // namespace stripline::e2e

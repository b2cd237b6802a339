// A worker for tests: speaks docs/worker-protocol.md and behaves, or misbehaves, as the name of its
// fabric says. The samples are made up, so it measures nothing.
//
//   good          measures each point of the assignment once and leaves
//   slow          a series every 20 ms until it is asked to cancel
//   no-join       never joins
//   die-early     SIGKILL before it joins
//   die-RANK      rank RANK dies by SIGKILL once it has work, the others report a lost peer
//   fail          rank 1 reports a failure of its own and exits
//   exit          rank 0 exits with code 3 once it has work
//   stubborn      ignores everything after `work`
//   garbage       answers `ready` with something that is not JSON

#include <cstdio>
#include <cstdlib>
#include <signal.h>
#include <string>
#include <unistd.h>

#include "base/json_channel.h"

namespace {

using stripline::Json;
using stripline::JsonChannel;

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value != nullptr ? value : "";
}

int describe() {
  const Json experiment = {{"name", "micro.latency"},
                           {"version", 1},
                           {"title", "Latency"},
                           {"description", "made up"},
                           {"factors",
                            {{{"name", "bytes"},
                              {"unit", "B"},
                              {"description", "made up"},
                              {"values", {8}},
                              {"minimum", 0},
                              {"maximum", 1 << 30}}}},
                           {"variants", {"get"}},
                           {"metric", {{"name", "t"}, {"unit", "s"}, {"lower_is_better", true}}},
                           {"min_ranks", 1},
                           {"max_ranks", 8},
                           {"verification", "none"},
                           {"feeds", Json::array()}};
  const Json description = {{"version", "0.1.0"},
                            {"fabrics",
                             {"good", "slow", "no-join", "die-early", "die-0", "die-1", "fail",
                              "exit", "stubborn", "garbage"}},
                            {"fingerprint", {{"cpu.model", "scripted"}}},
                            {"experiments", {experiment}}};
  std::printf("%s\n", description.dump().c_str());
  return 0;
}

Json series(int index) {
  return {{"point",
           {{"experiment", "micro.latency"}, {"variant", "get"}, {"params", {{"bytes", index}}}}},
          {"run", 0},
          {"values", {1e-6, 2e-6}},
          {"timestamps_s", {0.1, 0.2}},
          {"warmup_dropped", 0},
          {"stop_reason", "converged"},
          {"verified", true},
          {"note", ""}};
}

class Script {
 public:
  Script() : channel_(stripline::UniqueFd(3)) {}

  int run() {
    if (behaviour_ == "die-early") ::raise(SIGKILL);
    if (behaviour_ == "no-join") sleep_for_ever();
    say({{"type", "join"}, {"rank", rank_}, {"address", "a" + std::to_string(rank_)}});
    if (expect("ready")["addresses"].size() !=
        static_cast<size_t>(std::stoi(variable("STRIPLINE_RANKS")))) {
      return 9;
    }
    if (behaviour_ == "garbage") {
      [[maybe_unused]] const ssize_t put = ::write(channel_.fd(), "garbage\n", 8);
      sleep_for_ever();
    }
    const Json work = expect("work")["assignment"];
    return measure(static_cast<int>(work["points"].size()));
  }

 private:
  int measure(int points) {
    if (behaviour_ == "stubborn") sleep_for_ever();
    if (behaviour_.starts_with("die-")) {
      if (behaviour_.substr(4) == std::to_string(rank_)) ::raise(SIGKILL);
      say({{"type", "failed"}, {"code", "unavailable"}, {"message", "lost its peer"}});
      return 4;
    }
    if (behaviour_ == "fail") {
      if (rank_ != 1) sleep_for_ever();
      say({{"type", "failed"}, {"code", "resource_exhausted"}, {"message", "cannot allocate"}});
      return 4;
    }
    if (behaviour_ == "exit" && rank_ == 0) return 3;
    const bool slow = behaviour_ == "slow";
    std::string reason = "complete";
    for (int i = 0; slow || i < points; ++i) {
      if (rank_ == 0) {
        say({{"type", "samples"}, {"series", {series(i)}}});
        say({{"type", "progress"}, {"done", i + 1}, {"total", points}});
      }
      const auto message = channel_.read(slow ? 0.02 : 0);
      if (!message.ok()) return 5;
      if (message->has_value() && (**message)["type"] == "cancel") {
        reason = "cancelled";
        break;
      }
    }
    if (rank_ == 0) say({{"type", "finished"}, {"reason", reason}});
    say({{"type", "left"}});
    return 0;
  }

  void say(const Json& message) {
    if (!channel_.write(message).ok()) std::_Exit(5);
  }

  Json expect(const std::string& type) {
    const auto message = channel_.read(60);
    if (!message.ok() || !message->has_value()) std::_Exit(6);
    if ((**message)["type"] != type) std::_Exit((**message)["type"] == "abort" ? 5 : 9);
    return **message;
  }

  [[noreturn]] static void sleep_for_ever() {
    while (true) ::pause();
  }

  JsonChannel channel_;
  std::string behaviour_ = variable("STRIPLINE_FABRIC");
  int rank_ = std::stoi(variable("STRIPLINE_RANK"));
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--describe") return describe();
  return Script().run();
}

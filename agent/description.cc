#include "agent/description.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "base/json.h"
#include "base/quantity.h"
#include "base/subprocess.h"
#include "optimizer/experiment/json.h"

namespace stripline::agent {
namespace {

constexpr std::string_view kWhere = "worker description";

// Reads until the writer closes, or the time is over.
Result<std::string> read_all(int fd, double timeout_s) {
  using Clock = std::chrono::steady_clock;
  constexpr size_t kMaxBytes = size_t{16} << 20;
  const auto deadline = Clock::now() + std::chrono::duration<double>(timeout_s);
  std::string text;
  while (true) {
    const double left = std::chrono::duration<double>(deadline - Clock::now()).count();
    if (left <= 0) {
      return Error(ErrorCode::deadline_exceeded,
                   "the worker did not describe this node within " + exact_seconds_text(timeout_s));
    }
    pollfd wait{fd, POLLIN, 0};
    if (::poll(&wait, 1, static_cast<int>(left * 1e3) + 1) <= 0) continue;
    std::array<char, 65536> chunk{};
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got == 0) return text;
    if (got < 0 && errno != EINTR) return Error(ErrorCode::internal, "cannot read from the worker");
    if (got > 0) text.append(chunk.data(), static_cast<size_t>(got));
    if (text.size() > kMaxBytes) {
      return Error(ErrorCode::data_loss, "the worker's description exceeds 16 MiB");
    }
  }
}

Result<RankMemory> parse_memory(const Json& json) {
  constexpr std::string_view kMemory = "worker description.memory";
  const auto bytes = [&](const Json& from, const char* key) -> Result<uint64_t> {
    STRIPLINE_ASSIGN_OR_RETURN(const int64_t value, get_integer(from, key, kMemory));
    return static_cast<uint64_t>(std::max<int64_t>(0, value));
  };
  RankMemory memory;
  STRIPLINE_ASSIGN_OR_RETURN(memory.segment_bytes, bytes(json, "segment_bytes"));
  STRIPLINE_ASSIGN_OR_RETURN(memory.peer_bytes, bytes(json, "peer_bytes"));
  STRIPLINE_ASSIGN_OR_RETURN(const Json* fabrics, get_object(json, "runtime_bytes", kMemory));
  for (const auto& [fabric, value] : fabrics->items()) {
    STRIPLINE_ASSIGN_OR_RETURN(memory.runtime_bytes[fabric], bytes(*fabrics, fabric.c_str()));
  }
  return memory;
}

}  // namespace

Result<Description> parse_description(std::string_view text) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json json, parse_json(text, kWhere));
  Description description;
  STRIPLINE_ASSIGN_OR_RETURN(description.version, get_string(json, "version", kWhere));
  STRIPLINE_ASSIGN_OR_RETURN(const Json* fabrics, get_array(json, "fabrics", kWhere));
  for (const Json& fabric : *fabrics) {
    if (!fabric.is_string()) {
      return Error(ErrorCode::data_loss, "worker description.fabrics: expected strings");
    }
    description.fabrics.push_back(fabric.get<std::string>());
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Json* fingerprint, get_object(json, "fingerprint", kWhere));
  for (const auto& [field, value] : fingerprint->items()) {
    if (!value.is_string()) {
      return Error(ErrorCode::data_loss,
                   "worker description.fingerprint." + field + ": expected a string");
    }
    description.fingerprint[field] = value.get<std::string>();
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Json* experiments, get_array(json, "experiments", kWhere));
  for (const Json& experiment : *experiments) {
    const auto declaration = experiment::experiment_from_json(experiment);
    if (!declaration.ok()) return declaration.error().with_context(kWhere);
    description.experiments_json.push_back(experiment.dump());
    description.experiments.push_back(*declaration);
  }
  // Workers of before do not say it.
  if (json.contains("max_ranks")) {
    STRIPLINE_ASSIGN_OR_RETURN(const int64_t ranks, get_integer(json, "max_ranks", kWhere));
    description.max_ranks = static_cast<uint32_t>(std::clamp<int64_t>(ranks, 0, UINT32_MAX));
  }
  if (json.contains("memory")) {
    STRIPLINE_ASSIGN_OR_RETURN(description.memory, parse_memory(json["memory"]));
  }
  return description;
}

Result<Description> describe_node(const std::string& worker, double timeout_s,
                                  const std::vector<std::string>& profiles) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) {
    return Error(ErrorCode::resource_exhausted, "cannot create a pipe; raise 'ulimit -n'");
  }
  const UniqueFd read_end(fds[0]);
  UniqueFd write_end(fds[1]);
  SubprocessOptions options;
  options.argv = {worker, "--describe"};
  for (const std::string& file : profiles) {
    options.argv.insert(options.argv.end(), {"--profile", file});
  }
  options.stdout_fd = write_end.get();
  Result<Subprocess> process = Subprocess::spawn(options);
  if (!process.ok()) {
    return Error(process.error().code(),
                 process.error().message() +
                     "; the worker is installed beside the agent, or named with --worker");
  }
  write_end.reset();
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, read_all(read_end.get(), timeout_s));
  STRIPLINE_ASSIGN_OR_RETURN(const ExitStatus status, process->wait(timeout_s));
  if (!status.ok()) {
    return Error(ErrorCode::unavailable, "'" + worker + " --describe' " + status.describe() +
                                             "; run it by hand to see why");
  }
  Result<Description> description = parse_description(text);
  if (!description.ok()) {
    return Error(ErrorCode::unavailable, "what '" + worker + " --describe' printed is not a " +
                                             description.error().message() +
                                             "; name the stripline-worker of this agent's version "
                                             "with --worker");
  }
  return description;
}

}  // namespace stripline::agent

#include "server/core/models/fit_worker.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <exception>
#include <new>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "base/exit_codes.h"
#include "base/json.h"
#include "base/number_text.h"
#include "base/quantity.h"
#include "base/subprocess.h"
#include "optimizer/experiment/json.h"
#include "server/store/version_json.h"

namespace stripline::server {
namespace {

// How often a child that says nothing is looked after.
constexpr int kTurnMs = 100;
// No model has more; a child that writes on is not listened to for ever.
constexpr size_t kMaxAnswerBytes = size_t{256} << 20;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimitsMemory = false;  // Sanitizers reserve terabytes.
#else
constexpr bool kLimitsMemory = true;
#endif

// Texts, each with its length before it.
void append_text(std::string& message, const std::string& text) {
  message += std::to_string(text.size()) + "\n";
  message += text;
}

Result<std::vector<std::string>> split_texts(std::string_view message) {
  std::vector<std::string> texts;
  while (!message.empty()) {
    size_t size = 0;
    const auto [end, failure] =
        std::from_chars(message.data(), message.data() + message.size(), size);
    message.remove_prefix(static_cast<size_t>(end - message.data()));
    if (failure != std::errc() || !message.starts_with('\n') || size > message.size() - 1) {
      return Error(ErrorCode::data_loss, "the job of a fit is cut off");
    }
    texts.emplace_back(message.substr(1, size));
    message.remove_prefix(1 + size);
  }
  return texts;
}

std::string message_of(const FitJob& job) {
  Json nodes = Json::array();
  for (const AttemptFacts& node : job.input.nodes) {
    nodes.push_back({{"run", node.run.run}, {"node", node.node}, {"facts", node.facts}});
  }
  std::string message;
  append_text(message, dumped({{"campaigns", job.input.campaigns},
                               {"spec", to_json(job.input.spec)},
                               {"runs", job.input.runs},
                               {"seeds", job.input.seeds},
                               {"planned_points", job.input.planned_points},
                               {"stop_reason", job.input.stop_reason},
                               {"nodes", std::move(nodes)},
                               {"fitted_at", job.input.fitted_at}}));
  for (const FitBatch& batch : job.batches) {
    append_text(message, std::to_string(batch.first_run));
    append_text(message, batch.data);
  }
  return message;
}

// It comes from this program's own server.
Result<FitJob> job_of(std::string_view message) {
  STRIPLINE_ASSIGN_OR_RETURN(auto texts, split_texts(message));
  if (texts.empty()) return Error(ErrorCode::data_loss, "a fit without a job");
  STRIPLINE_ASSIGN_OR_RETURN(const Json json, parse_json(texts.front(), "job of a fit"));
  FitJob job;
  try {
    job.input.campaigns = json.at("campaigns").get<std::vector<int64_t>>();
    STRIPLINE_ASSIGN_OR_RETURN(job.input.spec, campaign::spec_from_json(json.at("spec")));
    job.input.runs = json.at("runs").get<uint32_t>();
    job.input.seeds = json.at("seeds").get<std::vector<uint64_t>>();
    job.input.planned_points = json.at("planned_points").get<uint32_t>();
    job.input.stop_reason = json.at("stop_reason").get<std::string>();
    job.input.fitted_at = json.at("fitted_at").get<std::string>();
    for (const Json& node : json.at("nodes")) {
      job.input.nodes.push_back({{0, node.at("run").get<uint32_t>()},
                                 0,
                                 node.at("node").get<std::string>(),
                                 node.at("facts").get<std::map<std::string, std::string>>()});
    }
  } catch (const Json::exception& error) {
    return Error(ErrorCode::data_loss, std::string("the job of a fit: ") + error.what());
  }
  for (size_t at = 1; at + 1 < texts.size(); at += 2) {
    FitBatch batch{std::move(texts[at + 1])};
    const auto run = number_from_text<decltype(batch.first_run)>(texts[at]);
    if (!run) return Error(ErrorCode::data_loss, "the job of a fit numbers its runs wrongly");
    batch.first_run = *run;
    job.batches.push_back(std::move(batch));
  }
  return job;
}

std::string message_of(const Result<FittedModel>& fitted) {
  if (!fitted.ok()) {
    return dumped(
        {{"code", to_string(fitted.error().code())}, {"message", fitted.error().message()}});
  }
  Json answer = {{"content", fitted->content},
                 {"sha256", fitted->sha256},
                 {"summary", fitted->summary},
                 {"provisional", fitted->provisional},
                 {"findings", to_json(fitted->findings)}};
  if (fitted->judgement) {
    ValidationRecord own;
    own.judgement = *fitted->judgement;
    answer["validation"] = to_json(own);
  }
  return dumped(answer);
}

Result<FittedModel> answer_of(const std::string& message) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json json, parse_json(message, "answer of a fit"));
  try {
    if (json.contains("code")) {
      const auto code = error_code_from_string(json.at("code").get<std::string>());
      return Error(code.value_or(ErrorCode::internal), json.at("message").get<std::string>());
    }
    FittedModel fitted;
    fitted.content = json.at("content").get<std::string>();
    fitted.sha256 = json.at("sha256").get<std::string>();
    fitted.summary = json.at("summary").get<std::string>();
    fitted.provisional = json.at("provisional").get<std::string>();
    STRIPLINE_ASSIGN_OR_RETURN(fitted.findings, findings_from_json(json.at("findings")));
    if (json.contains("validation")) {
      STRIPLINE_ASSIGN_OR_RETURN(const ValidationRecord validation,
                                 validation_from_json(json.at("validation")));
      fitted.judgement = validation.judgement;
    }
    return fitted;
  } catch (const Json::exception& error) {
    return Error(ErrorCode::data_loss, std::string("the answer of a fit: ") + error.what());
  }
}

// Sends the job and collects what comes back, until the child closes its end.
class Exchange {
 public:
  Exchange(int fd, std::string job, double time_s, const std::stop_token& stop)
      : fd_(fd),
        job_(std::move(job)),
        time_s_(time_s),
        end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_s))),
        stop_(stop) {}

  Result<std::string> run() {
    while (true) {
      if (stop_.stop_requested()) return Error(ErrorCode::cancelled, "the server is stopping");
      if (Clock::now() >= end_) {
        return Error(ErrorCode::deadline_exceeded, "the fit did not end within " +
                                                       exact_seconds_text(time_s_) +
                                                       " (stripline-server --fit-time)");
      }
      const short events = sent_ < job_.size() ? POLLIN | POLLOUT : POLLIN;
      pollfd socket{fd_, events, 0};
      if (::poll(&socket, 1, kTurnMs) <= 0) continue;
      if ((socket.revents & POLLOUT) != 0) send_some();
      if ((socket.revents & (POLLIN | POLLHUP | POLLERR)) != 0 && !receive_some()) return answer_;
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  void send_some() {
    const ssize_t sent =
        ::send(fd_, job_.data() + sent_, job_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) sent_ += static_cast<size_t>(sent);
    const bool broken = sent < 0 && errno != EAGAIN && errno != EINTR;
    if (broken) sent_ = job_.size();  // The end of its answer tells.
    if (sent_ == job_.size()) ::shutdown(fd_, SHUT_WR);
  }

  // False at the end.
  bool receive_some() {
    std::array<char, 65536> chunk{};
    const ssize_t got = ::recv(fd_, chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got > 0) answer_.append(chunk.data(), static_cast<size_t>(got));
    if (answer_.size() > kMaxAnswerBytes) return false;
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
  }

  int fd_;
  std::string job_;
  size_t sent_ = 0;
  std::string answer_;
  double time_s_;
  Clock::time_point end_;
  std::stop_token stop_;
};

Result<FittedModel> fit_with(const std::string& program, const FitLimits& limits, const FitJob& job,
                             const std::stop_token& stop) {
  STRIPLINE_ASSIGN_OR_RETURN(auto ends, socket_pair());
  SubprocessOptions options;
  options.argv = {program, kFitWorkerCommand, std::to_string(limits.memory_bytes)};
  options.stdin_fd = ends.second.get();
  options.stdout_fd = ends.second.get();
  STRIPLINE_ASSIGN_OR_RETURN(Subprocess child, Subprocess::spawn(options));
  ends.second.reset();
  const auto answer = Exchange(ends.first.get(), message_of(job), limits.time_s, stop).run();
  if (!answer.ok()) return answer.error();  // Destroying the child kills it.
  const auto ended = child.wait(1);
  if (answer->empty()) {
    return Error(ErrorCode::aborted,
                 "the process that fits " +
                     (ended.ok() ? ended->describe() : std::string("closed its output")) +
                     " without an answer");
  }
  return answer_of(*answer);
}

Result<std::string> read_to_end(int fd) {
  std::string text;
  std::array<char, 65536> chunk{};
  while (true) {
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got == 0) return text;
    if (got > 0) text.append(chunk.data(), static_cast<size_t>(got));
    if (got < 0 && errno != EINTR) return Error(ErrorCode::internal, "cannot read a fit's job");
  }
}

Result<FittedModel> fit_what_comes(int in, uint64_t memory_bytes) {
  if (kLimitsMemory) {
    const rlimit limit{.rlim_cur = memory_bytes, .rlim_max = memory_bytes};
    ::setrlimit(RLIMIT_AS, &limit);
  }
  try {
    STRIPLINE_ASSIGN_OR_RETURN(std::string message, read_to_end(in));
    STRIPLINE_ASSIGN_OR_RETURN(const FitJob job, job_of(message));
    std::string().swap(message);
    return fit_in_process(job, {});
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::resource_exhausted,
                 "the fit needs more memory than it may have (stripline-server --fit-memory)");
  } catch (const std::exception& failure) {
    return Error(ErrorCode::internal, failure.what());
  }
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
    if (written < 0 && errno != EINTR) return false;
  }
  return true;
}

}  // namespace

Fitter fit_in_child(std::string program, const FitLimits& limits) {
  return [program = std::move(program), limits](const FitJob& job, const std::stop_token& stop) {
    return fit_with(program, limits, job, stop);
  };
}

int run_fit_worker(int in, int out, uint64_t memory_bytes) {
  return write_all(out, message_of(fit_what_comes(in, memory_bytes))) ? kExitOk : kExitFailure;
}

}  // namespace stripline::server

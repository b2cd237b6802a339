#include "runtime/bootstrap/host_link.h"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "base/host_name.h"
#include "base/shell_words.h"
#include "runtime/bootstrap/host_share.h"

namespace stripline::bootstrap {
namespace {

/// What is kept of standard error: for the last line or two.
constexpr size_t kMostErrorText = 4096;

constexpr double kEndSeconds = 1;

/// Exit codes of a shell that cannot start a program, and of ssh for its own failures.
constexpr int kNotExecutable = 126;
constexpr int kNoSuchProgram = 127;
constexpr int kSshFailed = 255;

}  // namespace

Result<HostLink> HostLink::open(const std::string& host, const std::vector<std::string>& ssh,
                                const std::string& program) {
  const bool here = is_this_host(host);
  SubprocessOptions options;
  if (here) {
    options.argv = {program, kHostShareArgument};
  } else {
    options.argv = ssh;
    // Nothing may ask for a password, and forwarded ports of the user's settings belong to logins.
    for (const char* option :
         {"-o", "BatchMode=yes", "-o", "ClearAllForwardings=yes", "-x", "-T"}) {
      options.argv.emplace_back(option);
    }
    options.argv.push_back(host);
    options.argv.push_back("exec " + quote_word(program) + " " + kHostShareArgument);
  }
  STRIPLINE_ASSIGN_OR_RETURN(auto sockets, socket_pair());
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return Error(ErrorCode::resource_exhausted,
                 "cannot make a pipe for what ssh says; raise 'ulimit -n'");
  }
  UniqueFd errors(pipe[0]);
  const UniqueFd said(pipe[1]);
  ::fcntl(errors.get(), F_SETFL, O_NONBLOCK);  // NOLINT(*-vararg)
  options.stdin_fd = sockets.second.get();
  options.stdout_fd = sockets.second.get();
  options.stderr_fd = said.get();
  auto process = Subprocess::spawn(options);
  if (!process.ok()) {
    const Error& error = process.error();
    if (here) return error;
    return Error(error.code(),
                 error.message() + "; install OpenSSH's client, or name the command with --ssh");
  }
  HostLink link(host, std::move(*process), JsonChannel(std::move(sockets.first)),
                std::move(errors));
  link.program_ = program;
  for (const std::string& word : ssh) link.ssh_ += quote_word(word) + " ";
  link.by_ssh_ = !here;
  return link;
}

void HostLink::post(const Json& message) {
  [[maybe_unused]] const Status posted = channel_.post(message);
}

void HostLink::flush() { [[maybe_unused]] const Status flushed = channel_.flush(); }

Result<std::optional<Json>> HostLink::read() {
  while (true) {
    auto message = channel_.read(0);
    const bool skipped =
        noise_ && (message.ok() ? message->has_value() && !(*message)->contains("type")
                                : message.error().code() == ErrorCode::data_loss);
    if (!skipped) return message;
  }
}

void HostLink::expect_no_noise() {
  noise_ = false;
  read_errors();
  error_text_.clear();
}

void HostLink::read_errors() {
  std::array<char, 4096> buffer{};
  while (errors_) {
    const ssize_t count = ::read(errors_.get(), buffer.data(), buffer.size());
    if (count == 0) errors_.reset();
    if (count <= 0) return;
    error_text_.append(buffer.data(), static_cast<size_t>(count));
    if (error_text_.size() > kMostErrorText) {
      error_text_.erase(0, error_text_.size() - kMostErrorText);
    }
  }
}

std::string HostLink::last_words() const {
  const size_t last = error_text_.find_last_not_of("\r\n \t.");
  if (last == std::string::npos) return {};
  const size_t before = error_text_.find_last_of("\r\n", last);
  std::string line =
      error_text_.substr(before + 1, last - before);  // npos + 1 is the text's beginning
  // It comes from elsewhere, and goes to a terminal.
  std::ranges::replace_if(
      line, [](unsigned char c) { return c < ' ' || c == 127; }, '?');
  return line;
}

Error HostLink::ending() {
  const auto status = process_.wait(kEndSeconds);
  read_errors();
  const std::string words = last_words();
  const std::string ended = (by_ssh_ ? "ssh " : "its launcher ") +
                            (status.ok() ? status->describe() : "has closed the connection") +
                            (words.empty() ? "" : ": " + words);
  const int code = status.ok() && status->signal == 0 ? status->exit_code : 0;
  if (!noise_) return {ErrorCode::aborted, ended};
  if (code == kNotExecutable || code == kNoSuchProgram) {
    return {ErrorCode::not_found, "cannot start '" + program_ + "' on host " + host_ +
                                      (words.empty() ? "" : ": " + words) +
                                      "; Stripline has to be installed under the same path on "
                                      "every host"};
  }
  if (by_ssh_ && code == kSshFailed) {
    return {ErrorCode::unavailable,
            "cannot reach host " + host_ + ": " + (words.empty() ? ended : words) + "; '" + ssh_ +
                "-o BatchMode=yes " + host_ + " true' has to work, without a question"};
  }
  return {ErrorCode::unavailable, "cannot start ranks on host " + host_ + ": " + ended};
}

void HostLink::hang_up() { ::shutdown(channel_.fd(), SHUT_WR); }

void HostLink::close(double patience_s) {
  const auto ended = process_.wait(patience_s);
  if (!ended.ok()) process_.terminate(0);
  read_errors();
}

}  // namespace stripline::bootstrap

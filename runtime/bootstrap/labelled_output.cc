#include "runtime/bootstrap/labelled_output.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <list>
#include <poll.h>
#include <signal.h>
#include <string>
#include <string_view>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include <climits>

namespace stripline::bootstrap {
namespace {

constexpr int kPatienceMs = 5000;

Error no_more(const char* what) {
  return {ErrorCode::resource_exhausted, std::string("cannot label output: ") + what + ": " +
                                             std::generic_category().message(errno) +
                                             "; raise 'ulimit -n', or run without --label"};
}

}  // namespace

class LabelledOutput::Relay {
 public:
  explicit Relay(uint32_t ranks) : width_(std::to_string(std::max(ranks, 1U) - 1).size()) {}

  Status start() {
    if (!watched_ || !end_) return no_more("epoll");
    if (!watch(end_.get(), nullptr)) return no_more("epoll");
    // The thread leaves signals to the others, and hears of closed pipes by EPIPE.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::jthread([this] { run(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return {};
  }

  ~Relay() {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(end_.get(), &one, sizeof one);
  }

  Result<UniqueFd> pipe_of(uint32_t rank, int to) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return no_more("pipe");
    const std::string number = std::to_string(rank);
    Stream& stream = streams_.emplace_back();
    stream.from = UniqueFd(ends[0]);
    stream.to = to;
    stream.label = std::string(width_ - std::min(width_, number.size()), ' ') + number + ": ";
    UniqueFd write_end(ends[1]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);  // NOLINT(*-vararg)
    if (!watch(ends[0], &stream)) return no_more("epoll");
    return write_end;
  }

 private:
  struct Stream {
    UniqueFd from;
    int to = -1;
    std::string label;
    std::string begun;  // of a line, without its label
  };

  bool watch(int descriptor, Stream* stream) const {
    epoll_event event{.events = EPOLLIN, .data = {.ptr = stream}};
    return ::epoll_ctl(watched_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0;
  }

  void run() {
    for (bool ends = false; !ends;) {
      std::array<epoll_event, 64> events{};
      const int ready = ::epoll_wait(watched_.get(), events.data(), events.size(), -1);
      for (int i = 0; i < ready; ++i) {
        auto* const stream = static_cast<Stream*>(events[static_cast<size_t>(i)].data.ptr);
        if (stream == nullptr) {
          ends = true;
        } else {
          take(*stream);
        }
      }
    }
    // A process that a rank has left behind may write for ever.
    for (Stream& stream : streams_) {
      for (size_t taken = 0; taken < kLongestLine;) {
        const size_t more = take(stream);
        if (more == 0) break;
        taken += more;
      }
      if (stream.from && !stream.begun.empty()) put_line(stream);
    }
  }

  /// Reads once, and writes the lines that are complete. Returns the bytes read; 0 at the end of
  /// the pipe, and if there is nothing now.
  size_t take(Stream& stream) {
    const ssize_t count = ::read(stream.from.get(), buffer_.data(), buffer_.size());
    if (count < 0) return 0;
    if (count == 0) {
      if (!stream.begun.empty()) put_line(stream);
      stream.from.reset();
      return 0;
    }
    std::string_view rest(buffer_.data(), static_cast<size_t>(count));
    for (size_t at = rest.find('\n'); at != std::string_view::npos; at = rest.find('\n')) {
      stream.begun.append(rest.substr(0, at));
      put_line(stream);
      rest.remove_prefix(at + 1);
    }
    stream.begun.append(rest);
    if (stream.begun.size() >= kLongestLine) put_line(stream);
    return static_cast<size_t>(count);
  }

  void put_line(Stream& stream) {
    line_.assign(stream.label).append(stream.begun).push_back('\n');
    stream.begun.clear();
    std::string_view rest = line_;
    while (!rest.empty()) {
      if (!wait_for_room(stream.to)) return stream.from.reset();
      // What a pipe with room takes as a whole.
      const ssize_t written =
          ::write(stream.to, rest.data(), std::min<size_t>(rest.size(), PIPE_BUF));
      if (written < 0 && errno != EINTR && errno != EAGAIN) return stream.from.reset();
      if (written > 0) rest.remove_prefix(static_cast<size_t>(written));
    }
  }

  /// Until the end has come, for as long as it takes.
  bool wait_for_room(int to) {
    if (gives_up_) return false;
    std::array<pollfd, 2> waits{{{to, POLLOUT, 0}, {end_.get(), POLLIN, 0}}};
    ::poll(waits.data(), waits.size(), -1);
    if (waits[0].revents == 0 && waits[1].revents != 0) {
      gives_up_ = ::poll(waits.data(), 1, kPatienceMs) == 0;
    }
    return !gives_up_;
  }

  UniqueFd watched_{::epoll_create1(EPOLL_CLOEXEC)};  // its data point to streams_
  UniqueFd end_{::eventfd(0, EFD_CLOEXEC)};  // readable from the beginning of the destructor on
  size_t width_;                             // of a rank's number
  std::list<Stream> streams_;  // extended by the owner until the end, else the thread's
  bool gives_up_ = false;
  std::string line_;
  std::array<char, 65536> buffer_{};
  std::jthread thread_;  // the last member: ends first
};

Result<LabelledOutput> LabelledOutput::start(uint32_t ranks) {
  auto relay = std::make_unique<Relay>(ranks);
  STRIPLINE_RETURN_IF_ERROR(relay->start());
  return LabelledOutput(std::move(relay));
}

LabelledOutput::LabelledOutput(std::unique_ptr<Relay> relay) : relay_(std::move(relay)) {}
LabelledOutput::LabelledOutput(LabelledOutput&&) noexcept = default;
LabelledOutput::~LabelledOutput() = default;

Result<UniqueFd> LabelledOutput::pipe_of(uint32_t rank, int to) {
  return relay_->pipe_of(rank, to);
}

}  // namespace stripline::bootstrap

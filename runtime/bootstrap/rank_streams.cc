#include "runtime/bootstrap/rank_streams.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace stripline::bootstrap {
namespace {

constexpr size_t kPiece = size_t{32} << 10;
constexpr size_t kMostInFlight = size_t{256} << 10;

struct Pipe {
  UniqueFd from;
  UniqueFd to;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error(ErrorCode::resource_exhausted, "cannot make a pipe for what ranks print: " +
                                                    std::generic_category().message(errno) +
                                                    "; raise 'ulimit -n'");
  }
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void make_nonblocking(const UniqueFd& fd) {
  ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);  // NOLINT(*-vararg)
}

}  // namespace

Result<OutputStream> OutputStream::open(std::string_view name, bool whole_lines) {
  STRIPLINE_ASSIGN_OR_RETURN(Pipe pipe, make_pipe());
  make_nonblocking(pipe.from);  // the end of the ranks blocks, as their programs expect
  OutputStream stream;
  stream.name_ = name;
  stream.from_ = std::move(pipe.from);
  stream.to_ = std::move(pipe.to);
  stream.whole_lines_ = whole_lines;
  return stream;
}

int OutputStream::read_fd() const { return in_flight_ < kMostInFlight ? from_.get() : -1; }

std::string OutputStream::take() {
  std::string piece;
  if (read_fd() < 0) return piece;
  std::array<char, kPiece> buffer{};
  const ssize_t count = ::read(from_.get(), buffer.data(), buffer.size());
  empty_ = count <= 0;
  if (count <= 0) return piece;
  begun_.append(buffer.data(), static_cast<size_t>(count));
  const size_t end = whole_lines_ ? begun_.rfind('\n') + 1 : begun_.size();
  piece = begun_.substr(0, end);
  begun_.erase(0, end);
  in_flight_ += piece.size();
  return piece;
}

void OutputStream::taken(size_t bytes) { in_flight_ -= std::min(bytes, in_flight_); }

Result<InputStream> InputStream::open() {
  STRIPLINE_ASSIGN_OR_RETURN(Pipe pipe, make_pipe());
  make_nonblocking(pipe.to);
  InputStream stream;
  stream.from_ = std::move(pipe.from);
  stream.to_ = std::move(pipe.to);
  return stream;
}

bool InputStream::wants_more() {
  if (asked_ || !to_ || !kept_.empty()) return false;
  asked_ = true;
  return true;
}

void InputStream::give(std::string bytes) {
  asked_ = false;
  if (bytes.empty()) return to_.reset();
  kept_ = std::move(bytes);
  flush();
}

void InputStream::flush() {
  while (!kept_.empty()) {
    const ssize_t count = ::write(to_.get(), kept_.data(), kept_.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count < 0) {  // rank 0 reads no more
      kept_.clear();
      return to_.reset();
    }
    kept_.erase(0, static_cast<size_t>(count));
  }
}

}  // namespace stripline::bootstrap

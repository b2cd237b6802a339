#include "cli/console.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <signal.h>
#include <sys/ioctl.h>
#include <system_error>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/printable.h"

namespace stripline::cli {
namespace {

std::atomic<int> interrupt_count = 0;  // read by other threads as well
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");

int output_errno = 0;  // of the first failure

void on_interrupt(int /*signal*/) { interrupt_count = 1; }

void write_output(std::string_view text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if ((!written || std::fflush(stdout) != 0) && output_errno == 0) output_errno = errno;
}

void write_note(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

void print(std::string_view text) { write_output(printable(text)); }

void print_data(std::string_view data) {
  if (::isatty(STDOUT_FILENO) != 0) {
    print(data);
  } else {
    write_output(data);
  }
}

Status output_status() {
  if (output_errno == 0) return {};
  return Error(ErrorCode::unavailable,
               "cannot write to standard output: " + std::generic_category().message(output_errno) +
                   "; what was written is incomplete");
}

int print_error(std::string_view message, int exit_code) {
  write_note("stripline: error: " + printable_line(message) + "\n");
  return exit_code;
}

int exit_code_from(const Result<int>& outcome) {
  if (outcome.ok()) return *outcome;
  return print_error(outcome.error().message(), exit_code_for(outcome.error().code()));
}

void print_note(std::string_view text) { write_note(printable(text)); }

void redraw_line(std::string_view text) { write_note("\r" + printable_line(text) + "\x1b[K"); }

void erase_line() { write_note("\r\x1b[K"); }

bool can_redraw() {
  const char* terminal = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): nothing sets it
  return ::isatty(STDERR_FILENO) != 0 && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

size_t terminal_width() {
  constexpr size_t kUsual = 80;
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
  return size.ws_col;
}

void catch_interrupts() {
  interrupt_count = 0;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return interrupt_count != 0; }

}  // namespace stripline::cli

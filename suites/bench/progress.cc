#include "suites/bench/progress.h"

#include <cstdio>
#include <unistd.h>

namespace stripline::suites::bench {
namespace {

constexpr double kSilenceS = 15;

}  // namespace

Progress::Progress()
    : terminal_(::isatty(STDERR_FILENO) == 1), start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() { show(""); }

void Progress::show(const std::string& text) {
  if (!terminal_) return;
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
}

void Progress::keep_showing(const std::string& text) {
  show(text);
  if (!terminal_ && elapsed_s() - said_s_ >= kSilenceS) say(text);
}

void Progress::say(const std::string& text) {
  show("");
  std::fprintf(stderr, "stripline-bench: %s\n", text.c_str());
  said_s_ = elapsed_s();
}

double Progress::elapsed_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

}  // namespace stripline::suites::bench

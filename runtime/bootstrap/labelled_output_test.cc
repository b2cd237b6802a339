#include "runtime/bootstrap/labelled_output.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <signal.h>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::bootstrap {
namespace {

// A pipe, and what has been read from it until its end.
class Reader {
 public:
  Reader() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    to_ = UniqueFd(ends[1]);
    thread_ = std::thread([this, from = UniqueFd(ends[0])] {
      std::array<char, 4096> buffer{};
      for (ssize_t n = 0; (n = ::read(from.get(), buffer.data(), buffer.size())) > 0;) {
        text_.append(buffer.data(), static_cast<size_t>(n));
      }
    });
  }
  ~Reader() {
    if (thread_.joinable()) text();
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  int to() const { return to_.get(); }
  std::string text() {
    to_.reset();
    thread_.join();
    return text_;
  }

 private:
  UniqueFd to_;
  std::string text_;
  std::thread thread_;
};

LabelledOutput started(uint32_t ranks) {
  auto output = LabelledOutput::start(ranks);
  EXPECT_TRUE(output.ok()) << output.error().message();
  return *std::move(output);
}

void say(const UniqueFd& to, std::string_view text) {
  EXPECT_EQ(::write(to.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

TEST(LabelledOutput, LinesGetTheRankAndTheLastOneAnEnd) {
  Reader reader;
  {
    LabelledOutput output = started(11);
    const UniqueFd pipe = *output.pipe_of(7, reader.to());
    say(pipe, "one\n\ntw");
    say(pipe, "o\nthree");
  }
  EXPECT_EQ(reader.text(), " 7: one\n 7: \n 7: two\n 7: three\n");
}

TEST(LabelledOutput, LinesOfManyWritersStayWhole) {
  Reader reader;
  constexpr uint32_t kRanks = 4;
  constexpr int kLines = 200;
  {
    LabelledOutput output = started(kRanks);
    std::vector<std::thread> writers;
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      writers.emplace_back([pipe = *output.pipe_of(rank, reader.to()), rank] {
        // Longer than what a pipe takes as a whole, and given in two parts.
        const std::string line(6000, static_cast<char>('a' + rank));
        for (int i = 0; i < kLines; ++i) {
          say(pipe, std::string_view(line).substr(0, 1000));
          say(pipe, line.substr(1000) + "\n");
        }
      });
    }
    for (std::thread& writer : writers) writer.join();
  }
  std::string text = reader.text();
  std::array<int, kRanks> count{};
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    ASSERT_NE(end, std::string::npos);
    const auto rank = static_cast<uint32_t>(text[at] - '0');
    ASSERT_LT(rank, kRanks);
    ASSERT_EQ(text.substr(at, end - at),
              std::to_string(rank) + ": " + std::string(6000, static_cast<char>('a' + rank)));
    ++count.at(rank);
    at = end + 1;
  }
  for (const int lines : count) EXPECT_EQ(lines, kLines);
}

TEST(LabelledOutput, LinesWithoutEndAreDivided) {
  Reader reader;
  {
    LabelledOutput output = started(1);
    const UniqueFd pipe = *output.pipe_of(0, reader.to());
    const std::string part(65536, 'x');
    for (size_t sent = 0; sent < LabelledOutput::kLongestLine + 1; sent += part.size()) {
      say(pipe, part);
    }
  }
  const std::string text = reader.text();
  EXPECT_GT(text.find('\n'), LabelledOutput::kLongestLine);
  EXPECT_LT(text.find('\n'), text.size() - 1);
}

TEST(LabelledOutput, WritersLearnThatNobodyReads) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd to(ends[1]);
  UniqueFd(ends[0]).reset();
  LabelledOutput output = started(1);
  const UniqueFd pipe = *output.pipe_of(0, to.get());
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  while (::write(pipe.get(), "line\n", 5) == 5) {
  }
  EXPECT_EQ(errno, EPIPE);
  ::signal(SIGPIPE, before);
}

// A descendant of a rank may hold the pipe, and write for ever.
TEST(LabelledOutput, EndsAlthoughAWriterGoesOn) {
  Reader reader;
  UniqueFd pipe;
  {
    LabelledOutput output = started(1);
    pipe = *output.pipe_of(0, reader.to());
    say(pipe, "begun");
  }
  EXPECT_EQ(reader.text(), "0: begun\n");
}

}  // namespace
}  // namespace stripline::bootstrap

#include "runtime/bootstrap/rank_streams.h"

#include <csignal>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "runtime/bootstrap/launcher_streams.h"

namespace stripline::bootstrap {
namespace {

void put(int fd, const std::string& text) {
  ASSERT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

std::string get(int fd, size_t bytes) {
  std::string text(bytes, '\0');
  const ssize_t count = ::read(fd, text.data(), bytes);
  text.resize(count > 0 ? static_cast<size_t>(count) : 0);
  return text;
}

TEST(RankStreams, OutputIsTakenAsItComesOrInWholeLines) {
  ASSERT_OK_AND_ASSIGN(auto any, OutputStream::open("out", false));
  EXPECT_EQ(any.take(), "");
  EXPECT_TRUE(any.empty());
  put(any.write_fd(), "one\ntwo");
  EXPECT_EQ(any.take(), "one\ntwo");
  EXPECT_FALSE(any.empty());

  ASSERT_OK_AND_ASSIGN(auto lines, OutputStream::open("err", true));
  put(lines.write_fd(), "one\ntw");
  EXPECT_EQ(lines.take(), "one\n");
  put(lines.write_fd(), "o\n");
  EXPECT_EQ(lines.take(), "two\n");
}

TEST(RankStreams, NoMoreOutputIsInFlightThanTheLauncherTakes) {
  ASSERT_OK_AND_ASSIGN(auto stream, OutputStream::open("out", false));
  const std::string piece(32768, 'x');
  size_t in_flight = 0;
  while (stream.read_fd() >= 0) {
    put(stream.write_fd(), piece);
    in_flight += stream.take().size();
    ASSERT_LE(in_flight, size_t{1} << 20);
  }
  put(stream.write_fd(), "more");
  EXPECT_EQ(stream.take(), "");
  EXPECT_FALSE(stream.empty());
  stream.taken(1);
  EXPECT_EQ(stream.take(), "more");
  stream.close();
  EXPECT_TRUE(stream.empty());
  EXPECT_EQ(stream.read_fd(), -1);
}

TEST(RankStreams, InputIsAskedForPieceByPiece) {
  ASSERT_OK_AND_ASSIGN(auto stream, InputStream::open());
  EXPECT_TRUE(stream.wants_more());
  EXPECT_FALSE(stream.wants_more());
  stream.give("given");
  EXPECT_EQ(get(stream.read_end().get(), 10), "given");
  EXPECT_TRUE(stream.wants_more());
  // More than a pipe takes at once.
  const std::string large(100'000, 'x');
  stream.give(large);
  EXPECT_GE(stream.write_fd(), 0);
  EXPECT_FALSE(stream.wants_more());
  size_t read = 0;
  while (read < large.size()) {
    read += get(stream.read_end().get(), large.size()).size();
    stream.flush();
  }
  EXPECT_EQ(stream.write_fd(), -1);
  EXPECT_TRUE(stream.wants_more());
  stream.give("");
  EXPECT_EQ(get(stream.read_end().get(), 1), "");
  EXPECT_FALSE(stream.wants_more());
}

TEST(RankStreams, InputThatNobodyReadsEnds) {
  ::signal(SIGPIPE, SIG_IGN);
  ASSERT_OK_AND_ASSIGN(auto stream, InputStream::open());
  stream.read_end().reset();
  EXPECT_TRUE(stream.wants_more());
  stream.give("given");
  EXPECT_EQ(stream.write_fd(), -1);
  EXPECT_FALSE(stream.wants_more());
}

TEST(LauncherStreams, OwnersHearWhatWasWrittenOrDropped) {
  ::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  UniqueFd from(ends[0]);
  const UniqueFd to(ends[1]);
  std::vector<std::pair<size_t, size_t>> taken;
  OutputQueue queue(to.get(),
                    [&](size_t owner, size_t bytes) { taken.emplace_back(owner, bytes); });
  EXPECT_FALSE(queue.flush());
  queue.add(3, "abc");
  queue.add(5, std::string(100'000, 'x'));  // more than a pipe takes
  EXPECT_TRUE(queue.flush());
  EXPECT_EQ(taken, (std::vector<std::pair<size_t, size_t>>{{3, 3}}));
  EXPECT_FALSE(queue.empty());
  EXPECT_FALSE(queue.flush());
  EXPECT_EQ(get(from.get(), 3), "abc");
  from.reset();
  EXPECT_TRUE(queue.flush());
  EXPECT_TRUE(queue.closed());
  EXPECT_TRUE(queue.empty());
  queue.add(3, "late");
  EXPECT_EQ(taken, (std::vector<std::pair<size_t, size_t>>{{3, 3}, {5, 100'000}, {3, 4}}));
}

}  // namespace
}  // namespace stripline::bootstrap

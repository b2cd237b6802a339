#include "runtime/fabric/ofi/segment.h"

#include <algorithm>
#include <sys/mman.h>
#include <sys/resource.h>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "base/testing/scoped_limit.h"

namespace stripline::fabric::ofi {
namespace {

TEST(SegmentTest, IsZeroedAlignedAndPresent) {
  constexpr size_t kBytes = (size_t{4} << 20) + 5;
  ASSERT_OK_AND_ASSIGN(auto segment, Segment::allocate(kBytes));
  EXPECT_EQ(segment.bytes().size(), kBytes);
  // Where huge pages begin, too.
  EXPECT_EQ(reinterpret_cast<uintptr_t>(segment.bytes().data()) % (size_t{2} << 20), 0U);
  std::vector<unsigned char> present((kBytes + 4095) / 4096);
  ASSERT_EQ(mincore(segment.bytes().data(), kBytes, present.data()), 0);
  EXPECT_TRUE(std::ranges::all_of(present, [](unsigned char page) { return (page & 1) != 0; }));
  EXPECT_TRUE(
      std::ranges::all_of(segment.bytes(), [](std::byte value) { return value == std::byte{0}; }));
}

TEST(SegmentTest, PagesMayComeWhenTouched) {
  constexpr size_t kBytes = size_t{8} << 20;
  for (const auto kind : {Segment::Kind::exclusive, Segment::Kind::shared}) {
    ASSERT_OK_AND_ASSIGN(auto segment, Segment::allocate(kBytes, kind, Pages::when_touched));
    std::vector<unsigned char> present(kBytes / 4096);
    const auto is_present = [](unsigned char page) { return (page & 1) != 0; };
    ASSERT_EQ(mincore(segment.bytes().data(), kBytes, present.data()), 0);
    EXPECT_TRUE(std::ranges::none_of(present, is_present));
    segment.bytes().front() = std::byte{1};
    ASSERT_EQ(mincore(segment.bytes().data(), kBytes, present.data()), 0);
    EXPECT_TRUE(is_present(present.front()));
    EXPECT_FALSE(is_present(present.back()));
    EXPECT_EQ(segment.bytes().back(), std::byte{0});
  }
}

TEST(SegmentTest, MayBeEmpty) {
  ASSERT_OK_AND_ASSIGN(auto segment, Segment::allocate(0));
  EXPECT_TRUE(segment.bytes().empty());
}

TEST(SegmentTest, ReportsTheAddressSpaceLimit) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer itself needs address space";
#endif
  const auto segment = [] {
    const ScopedLimit tight(RLIMIT_AS, size_t{1} << 20);  // less than is in use: no mapping works
    return Segment::allocate(size_t{64} << 20);
  }();
  ASSERT_FALSE(segment.ok());
  EXPECT_EQ(segment.error().code(), ErrorCode::resource_exhausted);
  EXPECT_NE(segment.error().message().find("64 MiB"), std::string::npos)
      << segment.error().message();
}

// The kernel ends a process that sizes a larger file with SIGXFSZ.
TEST(SegmentTest, ReportsTheFileSizeLimit) {
  const ScopedLimit tight(RLIMIT_FSIZE, size_t{1} << 20);
  const auto shared = Segment::allocate(size_t{4} << 20, Segment::Kind::shared);
  const auto exclusive = Segment::allocate(size_t{4} << 20, Segment::Kind::exclusive);
  ASSERT_FALSE(shared.ok());
  EXPECT_EQ(shared.error().code(), ErrorCode::resource_exhausted);
  EXPECT_NE(shared.error().message().find("ulimit -f unlimited"), std::string::npos)
      << shared.error().message();
  EXPECT_TRUE(exclusive.ok());
}

}  // namespace
}  // namespace stripline::fabric::ofi

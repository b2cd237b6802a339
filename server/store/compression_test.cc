#include "server/store/compression.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

TEST(Compression, GivesBackWhatItWasGiven) {
  for (const std::string& bytes :
       {std::string(), std::string("[]"), std::string("\0\xff", 2), std::string(1 << 20, 'x')}) {
    const auto frame = compressed(bytes);
    ASSERT_TRUE(frame.ok());
    EXPECT_EQ(*decompressed(*frame), bytes);
  }
  EXPECT_LT(compressed(std::string(1 << 20, 'x'))->size(), size_t{1} << 10);
}

TEST(Compression, TellsDamage) {
  const std::string bytes = R"([{"values":[1.25e-06,1.5e-06]}])";
  const std::string frame = *compressed(bytes);
  for (size_t place = 0; place < frame.size(); ++place) {
    std::string other = frame;
    other[place] = static_cast<char>(other[place] ^ 1);
    const auto read = decompressed(other);
    EXPECT_TRUE(!read.ok() || *read == bytes) << place;
    EXPECT_EQ(decompressed(frame.substr(0, place)).error().code(), ErrorCode::data_loss) << place;
  }
  EXPECT_EQ(decompressed("[]").error().code(), ErrorCode::data_loss);
  EXPECT_EQ(decompressed(frame, bytes.size() - 1).error().code(), ErrorCode::data_loss);
}

}  // namespace
}  // namespace stripline::server

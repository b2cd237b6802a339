#include "optimizer/targets/ucx/ucx.h"

#include <gtest/gtest.h>

namespace stripline::targets::ucx {
namespace {

TEST(UcxConf, RoundTrips) {
  const std::vector<Setting> settings = {
      {"UCX_RNDV_THRESH", "65536"}, {"UCX_TLS", "tcp,self"}, {"UCX_MPI_RNDV_THRESH", "auto"}};
  const auto text = write_conf(settings, {"who, when"});
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text->find("UCX_MPI_RNDV_THRESH=auto\n"), std::string::npos);
  EXPECT_EQ(*read_conf(*text, "file"), settings);
}

TEST(UcxConf, RefusesWhatUcxWouldReadAsSomethingElse) {
  for (const char* bad : {"[Grace]\nUCX_TLS=tcp\n", "TLS=tcp\n", "UCX_TLS\n", "UCX_=1\n",
                          "UCX_TLS=tcp ; x\n", "UCX_tls=tcp\n", "UCX_TLS=tcp\nUCX_TLS=self\n"}) {
    EXPECT_FALSE(read_conf(bad, "file").ok()) << bad;
  }
  EXPECT_TRUE(read_conf("# a\n; b\n\nUCX_TLS = tcp\n", "file").ok());
  EXPECT_FALSE(write_conf({{"TLS", "tcp"}}, {}).ok());
  EXPECT_FALSE(write_conf({{"UCX_TLS", "tcp\nUCX_X=1"}}, {}).ok());
}

// What 'ucx_info -c -f' prints as a file to be edited.
TEST(UcxConf, ReadsWhatUcxListsItself) {
  const auto settings = read_conf(
      "# UCX library configuration file\n"
      "# Uncomment to modify values\n"
      "\n"
      "#\n"
      "# UCS logging level. Messages with a level higher or equal to the selected will be "
      "printed.\n"
      "#\n"
      "UCX_LOG_LEVEL=WARN\n"
      "UCX_LOG_FILE=\n"
      "UCX_MEMTRACK_DEST=\n"
      "UCX_RNDV_THRESH=auto\n",
      "file");
  ASSERT_TRUE(settings.ok()) << settings.error().message();
  ASSERT_EQ(settings->size(), 4U);
  EXPECT_EQ((*settings)[1], (Setting{"UCX_LOG_FILE", ""}));
  const auto text = write_conf(*settings, {});
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*read_conf(*text, "file"), *settings);
}

}  // namespace
}  // namespace stripline::targets::ucx

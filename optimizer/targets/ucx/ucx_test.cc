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
  for (const char* bad :
       {"[Grace]\nUCX_TLS=tcp\n", "TLS=tcp\n", "UCX_TLS\n", "UCX_=1\n", "UCX_TLS=\n",
        "UCX_TLS=tcp ; x\n", "UCX_tls=tcp\n", "UCX_TLS=tcp\nUCX_TLS=self\n"}) {
    EXPECT_FALSE(read_conf(bad, "file").ok()) << bad;
  }
  EXPECT_TRUE(read_conf("# a\n; b\n\nUCX_TLS = tcp\n", "file").ok());
  EXPECT_FALSE(write_conf({{"TLS", "tcp"}}, {}).ok());
  EXPECT_FALSE(write_conf({{"UCX_TLS", "tcp\nUCX_X=1"}}, {}).ok());
}

}  // namespace
}  // namespace stripline::targets::ucx

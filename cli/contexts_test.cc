#include "cli/contexts.h"

#include <gtest/gtest.h>

namespace stripline::cli {
namespace {

TEST(Contexts, AreReadBackAsTheyWereWritten) {
  const Contexts written{
      "head:7411",
      {{"head:7411", {"-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----\n", "t1"}},
       {"[::1]:7411", {"b", "quote \" and \\ and \x01"}},
       {"o:7411", {"c", "eyJ", "https://i", "stripline", "refresh"}}}};
  const auto read = parse_contexts(to_toml(written));
  ASSERT_TRUE(read.ok()) << read.error().message() << to_toml(written);
  EXPECT_EQ(read->server, written.server);
  ASSERT_EQ(read->servers.size(), 3U);
  for (const auto& [name, context] : written.servers) {
    EXPECT_EQ(read->servers.at(name).authority_pem, context.authority_pem);
    EXPECT_EQ(read->servers.at(name).token, context.token);
    EXPECT_EQ(read->servers.at(name).issuer, context.issuer);
    EXPECT_EQ(read->servers.at(name).client_id, context.client_id);
    EXPECT_EQ(read->servers.at(name).refresh_token, context.refresh_token);
  }
  EXPECT_TRUE(parse_contexts(to_toml(Contexts{}))->servers.empty());
}

TEST(Contexts, SayWhatIsWrongWithThem) {
  EXPECT_NE(parse_contexts("a = 1\nb = = 2\n").error().message().find("line 2"), std::string::npos);
  for (const char* text : {"server = 3", "servers = 3", "[servers.a]\ntoken = 'x'\n",
                           "[servers.a]\ntoken = 1\nauthority = 'x'\n", "[servers]\na = 1\n"}) {
    const auto read = parse_contexts(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().code(), ErrorCode::data_loss);
  }
  EXPECT_TRUE(parse_contexts("").ok());
  EXPECT_TRUE(parse_contexts("colour = 'blue'\n").ok());
}

}  // namespace
}  // namespace stripline::cli

#include "base/pki/token.h"

#include <gtest/gtest.h>

namespace stripline::pki {
namespace {

const std::string kAuthority(64, 'a');

TEST(Token, IsReadBackAsItWasWritten) {
  for (const auto kind : {Token::Kind::user, Token::Kind::node, Token::Kind::dev}) {
    const auto token = make_token(kind, kAuthority);
    ASSERT_TRUE(token.ok());
    const auto read = parse_token(token->text());
    ASSERT_TRUE(read.ok()) << token->text();
    EXPECT_EQ(read->kind, kind);
    EXPECT_EQ(read->authority_sha256, kind == Token::Kind::dev ? "" : kAuthority);
    EXPECT_EQ(read->secret, token->secret);
    EXPECT_EQ(read->secret.size(), 43U);
  }
}

TEST(Token, IsAnotherOneEachTime) {
  EXPECT_NE(make_token(Token::Kind::user, kAuthority)->secret,
            make_token(Token::Kind::user, kAuthority)->secret);
}

TEST(Token, WhatIsNoneIsRefusedWithoutRepeatingIt) {
  const std::string secret(43, 'S');
  for (const std::string& text :
       {std::string(), secret, "stripline-user." + secret, "stripline-user." + kAuthority,
        "stripline-user." + kAuthority + "." + secret + "=",
        "stripline-user." + kAuthority + "." + secret.substr(1),
        "stripline-user." + std::string(64, 'A') + "." + secret,
        "stripline-admin." + kAuthority + "." + secret,
        "stripline-dev." + kAuthority + "." + secret,
        " stripline-user." + kAuthority + "." + secret}) {
    const auto read = parse_token(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(read.error().message().find("SSS"), std::string::npos);
  }
}

}  // namespace
}  // namespace stripline::pki

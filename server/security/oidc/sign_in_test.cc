#include "server/security/oidc/sign_in.h"

#include <gtest/gtest.h>

namespace stripline::server::oidc {
namespace {

constexpr double kBegun = 1.8e9;

TEST(SignInTest, SecretsFollowFromTheCookie) {
  const auto sign_in = SignIn::make();
  ASSERT_TRUE(sign_in.ok());
  const std::string cookie = *sign_in->begin(kBegun);
  const auto secrets = sign_in->secrets_of(cookie, kBegun);
  ASSERT_TRUE(secrets);
  EXPECT_EQ(sign_in->secrets_of(cookie, kBegun + 599)->state, secrets->state);
  EXPECT_NE(secrets->state, secrets->nonce);
  EXPECT_NE(secrets->nonce, secrets->verifier);
  EXPECT_EQ(secrets->verifier.size(), 43U);
  EXPECT_NE(sign_in->secrets_of(*sign_in->begin(kBegun), kBegun)->state, secrets->state);
}

TEST(SignInTest, OtherCookiesAreNone) {
  const auto sign_in = SignIn::make();
  const std::string cookie = *sign_in->begin(kBegun);
  EXPECT_FALSE(sign_in->secrets_of(cookie, kBegun + 601));
  EXPECT_FALSE(sign_in->secrets_of(cookie, kBegun - 10)) << "from the future";
  EXPECT_FALSE(SignIn::make()->secrets_of(cookie, kBegun)) << "of another process";
  EXPECT_FALSE(sign_in->secrets_of("", kBegun));
  EXPECT_FALSE(sign_in->secrets_of("1.2.3", kBegun));
  std::string later = cookie;
  later[0] = '9';
  EXPECT_FALSE(sign_in->secrets_of(later, 9.8e9));
  EXPECT_FALSE(sign_in->secrets_of(cookie + std::string(1000, 'a'), kBegun));
}

TEST(SignInTest, TheBrowserIsSentWithAllThatIsNeeded) {
  const SignInSecrets secrets{"s", "n", "v", "c"};
  EXPECT_EQ(authorization_url({"https://i/a", "me & you", "https://h/login/callback", "openid x"},
                              secrets),
            "https://i/a?response_type=code&client_id=me%20%26%20you&redirect_uri=https%3A%2F%2Fh%"
            "2Flogin%2Fcallback&scope=openid%20x&state=s&nonce=n&code_challenge=c&"
            "code_challenge_method=S256");
  EXPECT_TRUE(authorization_url({"https://i/a?realm=b", "", "", ""}, secrets)
                  .starts_with("https://i/a?realm=b&response_type"));
}

TEST(SignInTest, CookiesAreReadAndWritten) {
  EXPECT_EQ(cookie_in("a=1; __Host-x=2;c=3", "__Host-x"), "2");
  EXPECT_EQ(cookie_in("a=1; __Host-x=2;c=3", "c"), "3");
  EXPECT_EQ(cookie_in("ab=1", "a"), "");
  EXPECT_EQ(cookie_in("", "a"), "");
  EXPECT_EQ(set_cookie("__Host-x", "v", 60.9, "Strict"),
            "__Host-x=v; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=60");
  EXPECT_NE(set_cookie("__Host-x", "", -5, "Lax").find("Max-Age=0"), std::string::npos);
}

TEST(SignInTest, SecretsAreComparedWhole) {
  EXPECT_TRUE(same_secret("abc", "abc"));
  EXPECT_FALSE(same_secret("abc", "abd"));
  EXPECT_FALSE(same_secret("abc", "ab"));
}

}  // namespace
}  // namespace stripline::server::oidc

#include "server/security/refusals.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

TEST(Refusals, AreCountedAndToldOnceInAMinute) {
  Meters meters;
  Refusals refusals(meters);
  EXPECT_EQ(refusals.line_at("/Session", "", "the certificate of nodes/a has expired", 100),
            "refused /Session: the certificate of nodes/a has expired");
  EXPECT_EQ(refusals.line_at("/Session", "", "the certificate of nodes/a has expired", 101), "");
  EXPECT_NE(refusals.line_at("/Session", "", "the certificate of nodes/b has expired", 101), "");
  EXPECT_NE(refusals.line_at("/Session", "", "the certificate of nodes/a has expired", 161), "");
  EXPECT_NE(meters.text().find("stripline_calls_refused_total 4"), std::string::npos)
      << meters.text();
}

TEST(Refusals, NameThePeer) {
  Meters meters;
  Refusals refusals(meters);
  EXPECT_EQ(refusals.line_at("/api/v1/nodes", "192.0.2.1", "this token is not known", 100),
            "refused /api/v1/nodes from 192.0.2.1: this token is not known");
  EXPECT_EQ(refusals.line_at("/api/v1/nodes", "192.0.2.1", "this token is not known", 101), "");
  EXPECT_NE(refusals.line_at("/api/v1/nodes", "192.0.2.2", "this token is not known", 101), "");
}

TEST(Refusals, StrangersCannotFillTheLog) {
  Meters meters;
  Refusals refusals(meters);
  int lines = 0;
  for (int i = 0; i < 10000; ++i) {
    lines += refusals.line_at("/" + std::to_string(i), "", "no", 100).empty() ? 0 : 1;
  }
  EXPECT_LE(lines, 60);
  EXPECT_EQ(Refusals(meters).line_at("/a\n[error] forged", "", "no", 1).find('\n'),
            std::string::npos);
}

TEST(Refusals, StrangersCannotFillTheMemory) {
  Meters meters;
  Refusals refusals(meters);
  double now_s = 100;
  for (int i = 0; i < 1'000'000; ++i) {
    refusals.line_at("/" + std::to_string(i), "192.0.2.1", "no", now_s);
    now_s += 1e-4;
  }
  EXPECT_LE(refusals.remembered(), 300U);
  // Lines that are suppressed take nothing from those of others.
  for (int i = 0; i < 1000; ++i) refusals.line_at("/again", "", "no", now_s + 60);
  EXPECT_FALSE(refusals.line_at("/other", "", "no", now_s + 60).empty());
}

}  // namespace
}  // namespace stripline::server

#include "runtime/rma/introduction.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "base/settings.h"
#include "runtime/bootstrap/testing/scoped_environment.h"
#include "runtime/fabric/ofi/ofi_settings.h"

namespace stripline::rma {
namespace {

TEST(Introduction, SurvivesTheWire) {
  for (const std::string& address :
       {std::string(), std::string("3:x"), std::string("\0\xff:7", 4)}) {
    for (const std::string& description : {std::string(), std::string("{\"host\":\"a\"}")}) {
      const auto received = Introduction::decode(Introduction{
          address, description, "all alike", "3 handlers", "m(sha256 1)", "FI_A=1", "16-0123abcd"}
                                                     .encode());
      ASSERT_TRUE(received.ok());
      EXPECT_EQ(received->terms, "all alike");
      EXPECT_EQ(received->handlers, "3 handlers");
      EXPECT_EQ(received->model, "m(sha256 1)");
      EXPECT_EQ(received->variables, "FI_A=1");
      EXPECT_EQ(received->facts, "16-0123abcd");
      EXPECT_EQ(received->address, address);
      EXPECT_EQ(received->description, description);
    }
  }
}

TEST(Introduction, RefusesWhatIsNone) {
  for (const char* bad : {"", "7", ":", "x:abc", "4:0:abc", "0:4:abc", "2:2:abc", "2:2:0:abc",
                          "1:1:2:abc", "1:1:0:2:abc", "1:1:0:0:2:abc", "1:1:0:0:abc", "1:a",
                          "99999999999999999999:0:0:0:a", "-1:0:0:0:a"}) {
    const auto decoded = Introduction::decode(bad);
    ASSERT_FALSE(decoded.ok()) << bad;
    EXPECT_EQ(decoded.error().code(), ErrorCode::data_loss);
  }
}

TEST(Introduction, SaysWhatToDoWhereRanksDiffer) {
  const Introduction mine{"address", "", "STRIPLINE_DEBUG=0", "3 handlers"};
  EXPECT_TRUE(check_alike(mine, 0, mine, 1).ok());
  const Status settings =
      check_alike(mine, 0, {"address", "", "STRIPLINE_DEBUG=1", "3 handlers"}, 1);
  EXPECT_EQ(settings.error().message(),
            "rank 1 has STRIPLINE_DEBUG=1, and rank 0 has STRIPLINE_DEBUG=0; these must be the "
            "same for all ranks");
  const Status handlers =
      check_alike(mine, 0, {"address", "", "STRIPLINE_DEBUG=0", "4 handlers"}, 7);
  EXPECT_EQ(handlers.error().message(),
            "rank 7 has a runtime of 4 handlers, and rank 0 has one of 3 handlers; run one version "
            "of the program on all ranks");
}

TEST(Introduction, NamesRanksWithOtherVariablesOfLibfabric) {
  EXPECT_EQ(differing_variables({"", "", ""}), "");
  EXPECT_EQ(differing_variables({"FI_A=1"}), "");
  EXPECT_EQ(differing_variables({"FI_A=1", "FI_A=1", "FI_A=2, FI_B=3"}),
            "the ranks have different variables of libfabric: rank 0 has FI_A=1, rank 2 has "
            "FI_A=2, FI_B=3");
  EXPECT_EQ(differing_variables({"", "FI_A=1", "FI_A=1", "FI_A=1", "FI_A=1", "FI_A=1"}),
            "the ranks have different variables of libfabric: rank 0 has none, rank 1 has FI_A=1, "
            "rank 2 has FI_A=1, rank 3 has FI_A=1, and 2 other ranks others than rank 0");
}

TEST(Variables, FallbacksAreTheDefaultsInForce) {
  std::map<std::string, std::string> fallbacks;
  for (const Variable& one : variables()) fallbacks[std::string(one.name)] = one.fallback;
  const bootstrap::ScopedEnvironment environment(fallbacks);

  const auto options = Options::from_environment();
  ASSERT_TRUE(options.ok()) << options.error().message();
  const Options plain;
  EXPECT_EQ(options->fabric, plain.fabric);
  EXPECT_EQ(options->clock, plain.clock);
  EXPECT_EQ(options->model_path, plain.model_path);
  EXPECT_EQ(options->segment_bytes, plain.segment_bytes);
  EXPECT_EQ(options->seed, plain.seed);
  EXPECT_EQ(options->verbose, plain.verbose);

  const auto settings = fabric::ofi::Settings::from_environment();
  ASSERT_TRUE(settings.ok()) << settings.error().message();
  const fabric::ofi::Settings usual;
  EXPECT_EQ(settings->address, usual.address);
  EXPECT_EQ(settings->interface, usual.interface);
  EXPECT_EQ(settings->automatic_progress, usual.automatic_progress);
  EXPECT_EQ(settings->peer_timeout_s, usual.peer_timeout_s);
}

}  // namespace
}  // namespace stripline::rma

#include "runtime/fabric/ofi/ofi_variables.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "runtime/fabric/ofi/ofi_address.h"
#include "runtime/fabric/ofi/ofi_fabric.h"
#include "runtime/fabric/ofi/ofi_provider.h"

namespace stripline::fabric {
namespace {

// NOLINTBEGIN(concurrency-mt-unsafe): these tests have one thread

class LibfabricVariablesTest : public testing::Test {
 protected:
  void set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    names_.push_back(name);
  }
  void TearDown() override {
    for (const std::string& name : names_) unsetenv(name.c_str());
  }
  /// Why `fabric` cannot be chosen; empty if it can.
  static std::string refusal(const std::string& fabric, const ofi::Settings& settings = {}) {
    const auto library = ofi::Library::load();
    if (!library.ok()) return library.error().message();
    const auto chosen = ofi::choose_provider(**library, fabric, settings);
    return chosen.ok() ? std::string() : chosen.error().message();
  }

 private:
  std::vector<std::string> names_;
};

TEST_F(LibfabricVariablesTest, AreThoseOfTheEnvironmentThatHaveAValue) {
  set("FI_LOG_LEVEL", "debug");
  set("FI_TCP_IFACE", "lo");
  set("FI_UNIVERSE_SIZE", "");
  set("FIRST", "x");
  const auto variables = libfabric_variables();
  EXPECT_EQ(to_text(variables), "FI_LOG_LEVEL=debug, FI_TCP_IFACE=lo");
  EXPECT_EQ(to_text(that_change_speed(variables)), "FI_LOG_LEVEL=debug");
  EXPECT_EQ(to_text({}), "");
}

TEST_F(LibfabricVariablesTest, AFilterExcludesProviders) {
  EXPECT_FALSE(excludes_provider("", "tcp;ofi_rxm"));
  EXPECT_FALSE(excludes_provider("tcp", "tcp;ofi_rxm"));
  EXPECT_FALSE(excludes_provider("shm,tcp", "tcp;ofi_rxm"));
  EXPECT_TRUE(excludes_provider("shm", "tcp;ofi_rxm"));
  EXPECT_TRUE(excludes_provider("^tcp", "tcp;ofi_rxm"));
  EXPECT_TRUE(excludes_provider("^shm,ofi_rxm", "tcp;ofi_rxm"));
  EXPECT_FALSE(excludes_provider("^shm", "tcp;ofi_rxm"));
}

TEST_F(LibfabricVariablesTest, AnInterfaceThatIsNotThereIsRefused) {
  set("FI_TCP_IFACE", "nope");
  const std::string why = refusal("tcp");
  EXPECT_NE(why.find("'nope' does not exist; FI_TCP_IFACE takes one of: "), std::string::npos)
      << why;
}

TEST_F(LibfabricVariablesTest, TheInterfaceOfTheProviderIsTaken) {
  set("FI_TCP_IFACE", "lo");
  EXPECT_EQ(refusal("tcp"), "");
}

TEST_F(LibfabricVariablesTest, AnAddressOfAnotherInterfaceIsRefused) {
  ofi::Settings settings;
  settings.address = "127.0.0.1";
  settings.interface = std::string("lo");  // a literal alone makes GCC 12 warn for no reason
  EXPECT_EQ(refusal("tcp", settings), "") << "they say the same";
  settings.interface = std::string("another");
  const std::string why = refusal("tcp", settings);
  EXPECT_NE(why.find("STRIPLINE_ADDRESS"), std::string::npos) << why;
  EXPECT_NE(why.find("STRIPLINE_IFACE"), std::string::npos) << why;
}

// NOLINTEND(concurrency-mt-unsafe)

}  // namespace
}  // namespace stripline::fabric

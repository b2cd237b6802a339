#include "runtime/bootstrap/pmix_library.h"

#include <string>

#include <gtest/gtest.h>

namespace stripline::bootstrap::pmix {
namespace {

TEST(PmixLibrary, IsThereAndComplete) {
  const auto library = Library::load();
  ASSERT_TRUE(library.ok()) << library.error().message();
  EXPECT_STREQ(library->error_string(PMIX_SUCCESS), "SUCCESS");
}

TEST(PmixLibrary, MissingOneSaysWhatToInstall) {
  const auto library = Library::load("libpmix-that-is-not-there.so.2");
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.error().code(), ErrorCode::unavailable);
  EXPECT_NE(library.error().message().find("libpmix-that-is-not-there.so.2"), std::string::npos);
  EXPECT_NE(library.error().message().find("apt-get install libpmix2"), std::string::npos);
}

TEST(PmixLibrary, AnotherLibraryIsNotTakenForIt) {
  const auto library = Library::load("libc.so.6");
  ASSERT_FALSE(library.ok());
  EXPECT_NE(library.error().message().find("lacks a function of PMIx"), std::string::npos);
}

TEST(PmixLibrary, VersionsBeforeFourAreTooOld) {
  for (const char* usable :
       {"OpenPMIx 4.2.2rc2, repo rev: v4.2.2rc2", "PMIx 4.0.0", "OpenPMIx 5.0.3", "PMIx 12.1"}) {
    EXPECT_TRUE(check_version(usable).ok()) << usable;
  }
  for (const char* old : {"PMIx 3.2.3", "PMIx 2.1.4, repo rev: unknown", "", "PMIx"}) {
    const Status checked = check_version(old);
    ASSERT_FALSE(checked.ok()) << old;
    EXPECT_EQ(checked.error().code(), ErrorCode::unavailable);
    EXPECT_NE(checked.error().message().find("or newer is needed"), std::string::npos);
  }
}

}  // namespace
}  // namespace stripline::bootstrap::pmix

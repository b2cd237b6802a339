#include "optimizer/targets/openmpi/openmpi.h"

#include <gtest/gtest.h>

#include "optimizer/targets/openmpi/params_file.h"

namespace stripline::targets::openmpi {
namespace {

TEST(ParamsFile, ReadsTheInstalledOne) {
  const auto read = read_params(
      "#\n# $COPYRIGHT$\n\n// a comment\n/* another one,\nof two lines */\n"
      "btl_base_warn_component_unused=0\nmtl = ^ofi\nbtl = ^uct,openib,ofi\n",
      "file");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(*read, (std::vector<Setting>{{"btl_base_warn_component_unused", "0"},
                                         {"mtl", "^ofi"},
                                         {"btl", "^uct,openib,ofi"}}));
}

TEST(ParamsFile, RoundTrips) {
  auto settings = rules_settings("/etc/openmpi/stripline rules.conf");
  settings.push_back({"btl_tcp_sndbuf", "0"});
  const auto text = write_params(settings, {"who, when"});
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*read_params(*text, "file"), settings);
}

TEST(ParamsFile, RefusesWhatOpenMpiWouldReadAsSomethingElse) {
  for (const char* bad :
       {"a\n", "a b = c\n", "= c\n", "a = 1 # one\n", "a = 1\na = 2\n", "a = \"1\"\n",
        "a = 1 /* one */\n", "/* a = 1\n", "/* */ a = 1\n", "a = \xc3\xa4\n"}) {
    EXPECT_FALSE(read_params(bad, "file").ok()) << bad;
  }
  EXPECT_FALSE(write_params({{"a", "1 # 2"}}, {}).ok());
  EXPECT_FALSE(write_params({{"a", "1\n2"}}, {}).ok());
  EXPECT_FALSE(write_params({{"a b", "1"}}, {}).ok());
}

TEST(OmpiInfo, ValuesAndSourcesAreRead) {
  auto parameters = parse_ompi_info(
      "package:Debian OpenMPI\n"
      "mca:btl:tcp:param:btl_tcp_links:value:1\n"
      "mca:btl:tcp:param:btl_tcp_links:source:default\n"
      "mca:btl:tcp:param:btl_tcp_links:help:a: b\n"
      "mca:mca:base:param:mca_param_files:value:/root/a.conf,/etc/b.conf\n"
      "mca:mca:base:param:mca_param_files:source:environment\n");
  ASSERT_TRUE(parameters.ok());
  ASSERT_EQ(parameters->size(), 2U);
  EXPECT_EQ((*parameters)[0].value, "1");
  EXPECT_EQ((*parameters)[1].value, "/root/a.conf,/etc/b.conf");
  EXPECT_EQ((*parameters)[1].source, "environment");
  EXPECT_EQ(file_of((*parameters)[1]), "");
  EXPECT_EQ(file_of({"a", "1", "file (/etc/a:b.conf:12)"}), "/etc/a:b.conf");
  EXPECT_EQ(file_of({"a", "1", "file (/etc/a.conf)"}), "/etc/a.conf");
  EXPECT_FALSE(parse_ompi_info("MPICH Version: 4.0\n").ok());
  // All others are missing, and this one is as it should be.
  EXPECT_TRUE(differences(*parameters).empty());
  (*parameters)[0].value = "4";
  const auto found = differences(*parameters);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0], "btl_tcp_links is '4' (default), not '1' as in the versions that were tried");
}

}  // namespace
}  // namespace stripline::targets::openmpi

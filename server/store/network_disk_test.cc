#include "server/store/network_disk.h"

#include <gtest/gtest.h>

#include "base/testing/processes.h"

namespace stripline::server {
namespace {

TEST(NetworkDisk, KnowsFileSystemsOfSeveralHosts) {
  EXPECT_EQ(network_file_system(0x6969), "NFS");
  EXPECT_EQ(network_file_system(0x0bd00bd0), "Lustre");
  EXPECT_EQ(network_file_system(0xff534d42), "CIFS");
  EXPECT_EQ(network_file_system(0xef53), "");      // ext4
  EXPECT_EQ(network_file_system(0x01021994), "");  // tmpfs
}

TEST(NetworkDisk, WhatCannotBeAskedPasses) {
  const TempFolder folder;
  EXPECT_TRUE(check_local_disk(folder / "not-there").ok());
}

}  // namespace
}  // namespace stripline::server

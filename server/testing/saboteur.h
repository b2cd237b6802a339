// Another program with its hands in the server's database, for tests of what the server does then.
#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sqlite3.h>

namespace stripline::server {

class Saboteur {
 public:
  explicit Saboteur(const std::filesystem::path& data_dir) {
    EXPECT_EQ(sqlite3_open((data_dir / "stripline.db").c_str(), &database_), SQLITE_OK);
    sqlite3_busy_timeout(database_, 5000);
  }
  ~Saboteur() { sqlite3_close(database_); }
  Saboteur(const Saboteur&) = delete;
  Saboteur& operator=(const Saboteur&) = delete;

  void run(const std::string& sql) {
    EXPECT_EQ(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database_);
  }

 private:
  sqlite3* database_ = nullptr;
};

}  // namespace stripline::server

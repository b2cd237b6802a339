// Another program with its hands in the server's database, for tests of what the server does then.
#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sqlite3.h>

namespace stripline::server {

/// Makes the tables those of version 1 again, in either kind of database.
inline constexpr const char* kToVersion1 = R"sql(
ALTER TABLE points DROP COLUMN medians;
DROP INDEX audit_by_time;
DROP INDEX attempts_by_time;
ALTER TABLE attempts DROP COLUMN started;
ALTER TABLE attempts DROP COLUMN ended;
ALTER TABLE attempts DROP COLUMN outcome;
ALTER TABLE attempts DROP COLUMN reason;
UPDATE meta SET value = '1' WHERE key = 'tables_version';
)sql";

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

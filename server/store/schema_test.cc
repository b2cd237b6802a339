// What takes tables from one version to the next, with migrations of tests besides those of this
// build.
#include "server/store/schema.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "server/store/sqlite.h"

namespace stripline::server {
namespace {

constexpr std::array<std::string_view, 2> kLater = {
    "CREATE TABLE colours (number {integer} PRIMARY KEY, weight {real}, data {bytes}) {rows};",
    "ALTER TABLE colours ADD COLUMN label {name} NOT NULL DEFAULT 'red'"};

class SchemaTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = SqliteDatabase::open(":memory:");
    ASSERT_TRUE(opened.ok()) << opened.error().message();
    database_.emplace(*std::move(opened));
    ASSERT_TRUE(create_tables(*database_, SqlDialect::sqlite).ok());
  }

  std::string text(const char* sql) { return *database_->query_text(sql); }

  std::optional<SqliteDatabase> database_;
};

TEST(Dialects, HaveWordsForAllTokens) {
  EXPECT_EQ(in_dialect("a {integer}, b {name}) {keyed}; c {integer}", SqlDialect::sqlite),
            "a INTEGER, b TEXT) STRICT, WITHOUT ROWID; c INTEGER");
  EXPECT_EQ(in_dialect("a {integer}, b {name}) {keyed}; c {integer}", SqlDialect::postgresql),
            "a BIGINT, b TEXT COLLATE \"C\") ; c BIGINT");
}

TEST_F(SchemaTest, NewTablesAreThoseOfThisBuild) {
  EXPECT_TRUE(check_table_version(*database_, "it").ok());
  EXPECT_EQ(text("SELECT length(value) FROM meta WHERE key = 'installation_id'"), "8");
}

TEST_F(SchemaTest, EachMigrationIsMadeOnce) {
  ASSERT_TRUE(database_->execute("INSERT INTO meta VALUES ('kept', 'yes')").ok());
  ASSERT_TRUE(migrate(*database_, SqlDialect::sqlite, "it", Migrations(kLater).first(1)).ok());
  EXPECT_FALSE(check_table_version(*database_, "it", kLater).ok());
  ASSERT_TRUE(database_->execute("INSERT INTO colours VALUES (7, 0.5, x'00')").ok());
  ASSERT_TRUE(migrate(*database_, SqlDialect::sqlite, "it", kLater).ok());
  ASSERT_TRUE(migrate(*database_, SqlDialect::sqlite, "it", kLater).ok());
  EXPECT_TRUE(check_table_version(*database_, "it", kLater).ok());
  EXPECT_EQ(text("SELECT label FROM colours WHERE number = 7"), "red");
  EXPECT_EQ(text("SELECT value FROM meta WHERE key = 'kept'"), "yes");
}

TEST_F(SchemaTest, AMigrationThatFailsLeavesTheTablesAsTheyAre) {
  ASSERT_TRUE(database_->execute("CREATE TABLE colours (number INTEGER, label TEXT)").ok());
  {
    auto transaction = SqliteTransaction::begin(*database_);
    ASSERT_TRUE(transaction.ok());
    const std::array<std::string_view, 2> steps = {"CREATE TABLE shapes (number {integer}) {rows};",
                                                   kLater[0]};
    EXPECT_FALSE(migrate(*database_, SqlDialect::sqlite, "it", steps).ok());
  }
  EXPECT_EQ(text("SELECT count(*) FROM sqlite_schema WHERE name = 'shapes'"), "0");
  EXPECT_TRUE(check_table_version(*database_, "it", Migrations()).ok());
}

TEST_F(SchemaTest, NewerTablesAreRefused) {
  ASSERT_TRUE(migrate(*database_, SqlDialect::sqlite, "it", kLater).ok());
  const Status older = migrate(*database_, SqlDialect::sqlite, "it", Migrations(kLater).first(1));
  ASSERT_FALSE(older.ok());
  EXPECT_EQ(older.error().code(), ErrorCode::failed_precondition);
  EXPECT_NE(older.error().message().find("version 3"), std::string::npos);
}

}  // namespace
}  // namespace stripline::server

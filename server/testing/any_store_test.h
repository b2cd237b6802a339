// One test for each kind of store.
#pragma once

#include <memory>
#include <ostream>
#include <string>

#include "server/store/postgres_store.h"
#include "server/testing/postgres_server.h"
#include "server/testing/saboteur.h"
#include "server/testing/store_fixture.h"

namespace stripline::server {

enum class StoreKind { sqlite, postgresql };

inline void PrintTo(StoreKind kind, std::ostream* out) {
  *out << (kind == StoreKind::sqlite ? "SQLite" : "PostgreSQL");
}

class AnyStoreTest : public StoreTest, public testing::WithParamInterface<StoreKind> {
 protected:
  void SetUp() override {
    if (GetParam() == StoreKind::postgresql) {
      if (const std::string why = PostgresServer::missing(); !why.empty()) GTEST_SKIP() << why;
      PostgresServer::shared().run("DROP SCHEMA IF EXISTS stripline CASCADE");
    }
    reopen();
  }
  void TearDown() override { store_.reset(); }

  Result<std::unique_ptr<Store>> open() override {
    if (GetParam() == StoreKind::sqlite) return StoreTest::open();
    return open_postgres_store(PostgresServer::shared().url());
  }

  // Another program with its hands in the database.
  void sabotage(const std::string& sql) {
    if (GetParam() == StoreKind::sqlite) {
      Saboteur(folder_.path()).run(sql);
    } else {
      PostgresServer::shared().run(sql);
    }
  }
};

}  // namespace stripline::server

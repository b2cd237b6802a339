#include "server/store/sql_copy.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/cut_text.h"

namespace stripline::server {
namespace {

struct Column {
  std::string name;
  std::string type;  // INTEGER, REAL, TEXT or BLOB
};
struct Table {
  std::string name;
  std::vector<Column> columns;
  std::set<std::string> refers_to;
};

// The file may come from anywhere, and its names become part of statements.
Status check_word(const std::string& word) {
  const bool is_word = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (is_word) return {};
  return Error(ErrorCode::data_loss, quoted_text(word) +
                                         " is not the name of a table or column of this build; the "
                                         "file is not a backup");
}

Result<std::vector<Table>> tables_of(SqlDatabase& file) {
  std::vector<Table> tables;
  STRIPLINE_ASSIGN_OR_RETURN(const auto columns, file.prepare(R"sql(
      SELECT t.name, c.name, c.type FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c
      WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name NOT IN ('meta', 'backup_files')
      ORDER BY t.name, c.cid)sql"));
  columns->bind();
  while (columns->step()) {
    const std::string name = columns->text(0);
    for (const std::string& word : {name, columns->text(1)}) {
      STRIPLINE_RETURN_IF_ERROR(check_word(word));
    }
    if (tables.empty() || tables.back().name != name) tables.push_back({name, {}, {}});
    tables.back().columns.push_back({columns->text(1), columns->text(2)});
  }
  STRIPLINE_RETURN_IF_ERROR(columns->status());
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto references,
      file.prepare(R"sql(SELECT "table" FROM pragma_foreign_key_list(?))sql"));
  for (Table& table : tables) {
    references->bind(table.name);
    while (references->step()) table.refers_to.insert(references->text(0));
    STRIPLINE_RETURN_IF_ERROR(references->status());
  }
  return tables;
}

// Each after those that its rows refer to.
std::vector<Table> in_order(std::vector<Table> tables) {
  std::vector<Table> ordered;
  while (!tables.empty()) {
    auto next = std::find_if(tables.begin(), tables.end(), [&](const Table& table) {
      return std::none_of(tables.begin(), tables.end(), [&](const Table& other) {
        return other.name != table.name && table.refers_to.count(other.name) != 0;
      });
    });
    if (next == tables.end()) next = tables.begin();  // a circle, which the database will refuse
    ordered.push_back(std::move(*next));
    tables.erase(next);
  }
  return ordered;
}

void add_value(SqlStatement& target, const SqlStatement& row, int column, const std::string& type) {
  if (type == "INTEGER") {
    target.bind_next(row.integer(column));
  } else if (type == "REAL") {
    target.bind_next(row.optional_real(column));
  } else if (type == "BLOB") {
    target.bind_next(SqlBlob{row.blob(column)});
  } else {
    target.bind_next(row.text(column));
  }
}

Status copy_table(const ForEachRow& from, SqlDatabase& target, const Table& table) {
  std::string names;
  std::string marks;
  for (const Column& column : table.columns) {
    names += (names.empty() ? "" : ", ") + column.name;
    marks += marks.empty() ? "?" : ", ?";
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto insert, target.prepare("INSERT INTO " + table.name + " (" +
                                                               names + ") VALUES (" + marks + ")"));
  return from("SELECT " + names + " FROM " + table.name, [&](const SqlStatement& row) {
    insert->bind();
    for (size_t i = 0; i < table.columns.size(); ++i) {
      add_value(*insert, row, static_cast<int>(i), table.columns[i].type);
    }
    return insert->run();
  });
}

}  // namespace

Status copy_rows(SqlDatabase& file, const ForEachRow& from, SqlDatabase& target) {
  STRIPLINE_ASSIGN_OR_RETURN(std::vector<Table> tables, tables_of(file));
  for (const Table& table : in_order(std::move(tables))) {
    STRIPLINE_RETURN_IF_ERROR(copy_table(from, target, table));
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto update,
                             target.prepare("UPDATE meta SET value = ? WHERE key = ?"));
  return from(
      "SELECT key, value FROM meta WHERE key IN ('installation_id', 'fence_base', 'last_campaign')",
      [&](const SqlStatement& row) { return update->bind(row.text(1), row.text(0)).run(); });
}

}  // namespace stripline::server

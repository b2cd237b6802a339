#include "server/store/point_columns.h"

#include <string_view>

#include "base/json.h"
#include "server/store/column_text.h"

namespace stripline::server {
namespace {

template <typename Values>
void write_column(std::string& text, std::string_view name, const Values& values) {
  text += ",\"";
  text += name;
  text += "\":[";
  bool first = true;
  for (const auto& value : values) {
    if (!first) text += ',';
    first = false;
    append_value(text, value);
  }
  text += ']';
}

}  // namespace

void PointColumns::Placed::add(size_t row, const std::string& value) {
  const auto [known, fresh] = places.try_emplace(value, static_cast<int32_t>(values.size()));
  if (fresh) values.push_back(value);
  of.resize(row, -1);
  of.push_back(known->second);
}

void PointColumns::Placed::write(std::string& text, size_t rows) const {
  text += "{\"values\":[";
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += ',';
    text += values[i];
  }
  text += "],\"of\":[";
  for (size_t row = 0; row < rows; ++row) {
    if (row > 0) text += ',';
    append_value(text, row < of.size() ? of[row] : -1);
  }
  text += "]}";
}

Status PointColumns::add(const PointRow& row) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json params, parse_json(row.params_json, "stored point"));
  if (!params.is_object()) {
    return Error(ErrorCode::data_loss, "stored point: its parameters are not an object");
  }
  place_.push_back(row.place);
  variant_.add(rows_, dumped(Json(row.variant)));
  for (const auto& [name, value] : params.items()) params_[name].add(rows_, dumped(value));
  runs_.push_back(row.runs - row.failed);
  samples_.push_back(row.samples);
  failed_.push_back(row.failed);
  median_.push_back(row.median);
  low_.push_back(row.low);
  high_.push_back(row.high);
  ++rows_;
  return {};
}

std::string PointColumns::json() const {
  std::string text = "{\"experiment\":" + dumped(Json(experiment_));
  write_column(text, "place", place_);
  text += ",\"variant\":";
  variant_.write(text, rows_);
  text += ",\"params\":{";
  bool first = true;
  for (const auto& [name, placed] : params_) {
    if (!first) text += ',';
    first = false;
    text += dumped(Json(name)) + ":";
    placed.write(text, rows_);
  }
  text += '}';
  write_column(text, "runs", runs_);
  write_column(text, "samples", samples_);
  write_column(text, "failed", failed_);
  write_column(text, "median", median_);
  write_column(text, "low", low_);
  write_column(text, "high", high_);
  return text + "}";
}

}  // namespace stripline::server

// Two campaigns beside each other as /api/v1 sends them: piece by piece, as their text would be
// many times as large as what was compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/core/reads.h"
#include "server/doors/http/message.h"
#include "server/security/call_limits.h"

namespace stripline::server {

/// Point by point: a CompareCampaignsResponse.
class ComparisonRows final : public http::Pieces {
 public:
  ComparisonRows(CallLimits& limits, std::string payer, ComparedCampaigns compared)
      : limits_(limits), payer_(std::move(payer)), compared_(std::move(compared)) {}

  std::optional<std::string> next() override;

 private:
  CallLimits& limits_;
  const std::string payer_;
  const ComparedCampaigns compared_;
  size_t next_ = 0;
  bool ended_ = false;
};

/// Column by column, a fifth of that text (docs/http.md, Columns).
class ComparisonColumns final : public http::Pieces {
 public:
  ComparisonColumns(CallLimits& limits, std::string payer, ComparedCampaigns compared);
  ComparisonColumns(const ComparisonColumns&) = delete;
  ComparisonColumns& operator=(const ComparisonColumns&) = delete;

  std::optional<std::string> next() override;

 private:
  struct Column {
    enum class Kind {
      plain,        // a value for each point
      placed,       // the different values once, and for each point the place of its own
      placed_text,  // the same of texts
    };
    std::string before;
    Kind kind = Kind::plain;
    /// Appends what it says of a point: JSON, or a text; nothing where it has no value.
    std::function<void(std::string& text, const campaign::ComparedPoint& point)> append;
    std::string after = {};
  };

  void add_columns();
  void add_params();
  void append_place(std::string& text, const Column& column, const campaign::ComparedPoint& point);
  void append_values(std::string& text, const Column& column);

  CallLimits& limits_;
  const std::string payer_;
  const ComparedCampaigns compared_;
  bool ended_ = false;
  std::vector<Column> columns_;
  // The next value is that of this column and point.
  size_t column_ = 0;
  size_t point_ = 0;
  // The values of a column in which they are placed.
  std::vector<std::string> values_;
  std::unordered_map<std::string, int32_t> places_;
  std::string value_;
};

}  // namespace stripline::server

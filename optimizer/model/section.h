// A section of the tuned model: all that is known of one top-level member of the file but how it is
// fitted and what planners make of it. Each has a file of its name in sections/; tuned_model.h
// lists them.
#pragma once

#include <functional>
#include <string>

#include "base/table.h"
#include "optimizer/model/example.h"
#include "optimizer/model/form.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::model {

struct Section {
  /// Its name, and how it is read, written, checked and described in the schema.
  Member<TunedModel> member;
  /// What `stripline model show` says of it; empty where the model does not have it.
  std::function<std::string(const TunedModel&)> summary;
  /// Fills in every member at least once, in the order of magnitude of an InfiniBand network of
  /// 2004: the example of docs/schema and of tests.
  std::function<void(TunedModel&)> example;
  /// What programs do that is decided by it: "loops, sweeps"; empty: nothing.
  const char* decides = "";
};

using UnitText = std::string (*)(double);
std::string time_text(double seconds);  ///< "4.50 us"
std::string number_text(double value);  ///< "64", "1.5"
std::string share_text(double value);   ///< "2 %"

/// The title in a line of its own, then the table; empty without rows.
std::string titled(const std::string& title, const Table& table);

/// Parameters with their intervals and origin, a row each.
class ParameterTable {
 public:
  explicit ParameterTable(const std::string& first_column);
  void add(const std::string& first, const std::string& name, const Parameter& parameter,
           UnitText unit);
  /// Nothing for a parameter that is absent.
  void add(const std::string& first, const std::string& name,
           const std::optional<Parameter>& parameter, UnitText unit);
  std::string titled(const std::string& title) const { return model::titled(title, table_); }
  std::string text() const { return table_.empty() ? std::string() : table_.text(2); }

 private:
  Table table_;
};

}  // namespace stripline::model

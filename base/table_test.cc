#include "base/table.h"

#include <gtest/gtest.h>

namespace stripline {
namespace {

TEST(Table, AlignsItsColumns) {
  Table table({{"NAME"}, {"N", Table::Align::right}, {"LAST"}});
  table.add({"a", "1", ""});
  table.add({"longer", "100", "x"});
  EXPECT_EQ(table.text(2),
            "  NAME      N  LAST\n"
            "  a         1\n"
            "  longer  100  x\n");
}

}  // namespace
}  // namespace stripline

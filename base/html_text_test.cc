#include "base/html_text.h"

#include <gtest/gtest.h>

namespace stripline {
namespace {

TEST(HtmlText, NothingOfItIsAnElement) {
  EXPECT_EQ(html_text("a \"b\" <c> & d\n"), "a &quot;b&quot; &lt;c&gt; &amp; d\n");
  EXPECT_EQ(html_text("&lt;"), "&amp;lt;");
}

}  // namespace
}  // namespace stripline

#include "base/shell_words.h"

#include <gtest/gtest.h>

#include "base/testing/processes.h"

namespace stripline {
namespace {

using Words = std::vector<std::string>;

TEST(ShellWords, AreSplitAsAShellDoes) {
  EXPECT_EQ(*split_words("ssh -p 2222"), (Words{"ssh", "-p", "2222"}));
  EXPECT_EQ(*split_words("  ssh\t-o 'ProxyCommand nc %h 22'\n"),
            (Words{"ssh", "-o", "ProxyCommand nc %h 22"}));
  EXPECT_EQ(*split_words(R"(a"b c"'d e'f\ g "\"\\\$\x" '\')"),
            (Words{"ab cd ef g", R"("\$\x)", "\\"}));
  EXPECT_EQ(*split_words("'' \"\""), (Words{"", ""}));
  EXPECT_EQ(*split_words("$HOME/*;x"), (Words{"$HOME/*;x"}));
  EXPECT_EQ(*split_words(" "), Words{});
}

TEST(ShellWords, UnfinishedQuotesAreRefused) {
  for (const char* text : {"ssh 'x", "ssh \"x", "ssh x\\"}) {
    const auto words = split_words(text);
    ASSERT_FALSE(words.ok()) << text;
    EXPECT_EQ(words.error().code(), ErrorCode::invalid_argument);
    EXPECT_NE(words.error().message().find("ends within"), std::string::npos);
  }
}

TEST(ShellWords, QuotedWordsReachAProgramAsTheyAre) {
  EXPECT_EQ(quote_word("/opt/stripline-0.1/bin/stripline-run"),
            "/opt/stripline-0.1/bin/stripline-run");
  EXPECT_EQ(quote_word(""), "''");
  for (const std::string word : {"a b", "it's", "\"$HOME\"", "`id`", "a\nb", "\\", "!x", "*", "'",
                                 "\xff\x01", "~", "#", "-n"}) {
    EXPECT_EQ(run_program({"sh", "-c", "printf %s " + quote_word(word)}).out, word);
    EXPECT_EQ(*split_words(quote_word(word)), Words{word});
  }
}

}  // namespace
}  // namespace stripline

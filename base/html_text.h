// Text of others within a page.
#pragma once

#include <string>
#include <string_view>

namespace stripline {

/// The text with &, <, > and double quotes as HTML wants them, within an element or an attribute in
/// double quotes.
std::string html_text(std::string_view text);

}  // namespace stripline

// Pages for man(1), written from the grammar of a program: its commands, options, defaults and
// the texts of its help. Pure, but for defaults, which are those of this process.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/command_line_fwd.h"

namespace stripline {

/// Commands that another program carries out, by their words ("campaign run-plan"): that program
/// with its own command, if any ("stripline-bench run-plan").
using Delegates = std::map<std::string, std::string>;

/// A page, as a file of its name has it.
struct ManPage {
  std::string name;  ///< without the section: "stripline-campaign"
  std::string text;  ///< in the macros of man(7), in ASCII
};

/// The pages of a program: one for all of it; where commands have commands, one for each command of
/// the first level as well ("stripline-campaign"), but for those that are delegated, whose programs
/// have pages of their own. `section` is that of the manual, e.g. 1 for commands and 8 for daemons.
std::vector<ManPage> man_pages(const CLI::App& program, int section,
                               const Delegates& delegates = {});

}  // namespace stripline

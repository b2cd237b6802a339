// The standard streams, as far as the commands need to know them.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace stripline::cli {

// What is written for people and as lines of JSON may hold text of others: it passes through
// printable(), so that a terminal obeys none of it.

/// Writes to standard output. What was written so far is out when the call returns.
void print(std::string_view text);

/// The content of a file, byte for byte unless standard output is a terminal.
void print_data(std::string_view data);

/// Success, or why print() could not write all it was given. Errors: unavailable.
Status output_status();

/// "stripline: error: message" on standard error; returns `exit_code`.
int print_error(std::string_view message, int exit_code);
/// The exit code of a command that has one, or that of its error, which is printed so.
int exit_code_from(const Result<int>& outcome);

/// A line for a person on standard error, which leaves standard output to data.
void print_note(std::string_view text);

/// Shows this on the line of the terminal where the last one was shown; see can_redraw().
void redraw_line(std::string_view text);
/// Leaves that line empty.
void erase_line();

/// True if standard error is a terminal that understands being drawn over.
bool can_redraw();

/// Its width in columns; 80 if it does not say.
size_t terminal_width();

/// From now on SIGINT and SIGTERM set a flag instead of ending the process.
void catch_interrupts();
bool interrupted();

}  // namespace stripline::cli

#include <iostream>

#include "base/atomic_file.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "suites/targets/bundle.h"
#include "suites/targets/commands.h"
#include "suites/targets/owned_files.h"
#include "suites/targets/report_page.h"
#include "suites/targets/session.h"

namespace stripline::suites::tune {
namespace {

namespace fs = std::filesystem;

// What a record is about, also where the default was kept and there is no file.
Result<Bundle> bundle_of(const fs::path& file) {
  if (file.filename() != kRecordName) return read_bundle(file);
  STRIPLINE_ASSIGN_OR_RETURN(const Json record, read_json_file(file));
  STRIPLINE_ASSIGN_OR_RETURN(const Json* files, get_object(record, "files", "export record"));
  if (!files->empty()) return read_bundle(file.parent_path() / files->begin().key());
  return Bundle{record.dump(), {}};
}

Result<int> report(const PackOptions& options) {
  std::error_code error;
  const fs::path output = options.output.empty() ? "report.html" : options.output;
  if (fs::exists(output, error)) {
    return Error(ErrorCode::already_exists,
                 "'" + output.string() + "' is there already; name another file by --output");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Bundle bundle, bundle_of(fs::absolute(options.file, error)));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string page, report_page(bundle));
  STRIPLINE_RETURN_IF_ERROR(write_atomically(output, page));
  std::cout << "Written: " << output.string() << '\n';
  return kExitOk;
}

}  // namespace

int report_command(const PackOptions& options) { return exit_code_of(report(options)); }

}  // namespace stripline::suites::tune

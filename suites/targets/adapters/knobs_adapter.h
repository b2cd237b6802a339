// A target that has knobs and no alternatives by operation: an export is one file of settings.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "suites/targets/adapters/adapter.h"

namespace stripline::suites::tune {

class KnobsAdapter : public Adapter {
 public:
  Environment selecting() const override { return {}; }
  Environment knobs(const std::vector<targets::Setting>& settings) const override;
  std::vector<std::string> file_names() const override { return {file_name()}; }
  Result<std::string> referring(const std::string& text, const std::filesystem::path& folder,
                                const std::vector<std::string>& others) const override;
  Result<std::vector<ExportFile>> files(const Decisions& decisions, const targets::Safety& safety,
                                        const std::filesystem::path& folder,
                                        const std::vector<std::string>& comments) const override;
  Result<std::vector<ExportFile>> with_probe(const std::filesystem::path& file, const Probe& probe,
                                             const std::filesystem::path& folder) const override;
  /// Errors: unimplemented, as no other version is known to take the same settings.
  Result<OtherVersion> for_version(const std::filesystem::path& file,
                                   const targets::Version& version,
                                   const std::filesystem::path& folder,
                                   std::vector<std::string> comments) const override;

 protected:
  virtual std::string file_name() const = 0;
  virtual Result<std::vector<targets::Setting>> read(std::string_view text,
                                                     std::string_view what) const = 0;
  virtual Result<std::string> write(const std::vector<targets::Setting>& settings,
                                    const std::vector<std::string>& comments) const = 0;

  /// Errors: those of read(), and invalid_argument for settings that are not known here.
  Result<std::vector<targets::Setting>> read_export(const std::filesystem::path& file) const;
  /// Errors: failed_precondition for a knob that this environment sets: it cannot be kept from a
  /// child, and would be part of the default.
  Status check_environment() const;

 private:
  Result<std::vector<ExportFile>> file_with(const std::vector<targets::Setting>& settings,
                                            const std::vector<std::string>& comments) const;
};

/// One whose file is of environment variables, that shells read before programs are started.
class VariablesAdapter : public KnobsAdapter {
 public:
  Result<Environment> loading(const std::filesystem::path& file) const override;
  Result<std::vector<std::string>> complaints(const std::filesystem::path& file,
                                              const targets::Safety& safety,
                                              const std::filesystem::path& place) const override;

 protected:
  std::string file_name() const override;  ///< "stripline-TARGET.env"
  Result<std::vector<targets::Setting>> read(std::string_view text,
                                             std::string_view what) const override;
  Result<std::string> write(const std::vector<targets::Setting>& settings,
                            const std::vector<std::string>& comments) const override;
};

}  // namespace stripline::suites::tune

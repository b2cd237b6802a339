// Writing a file so that no one ever sees half of it.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <sys/types.h>

#include "base/result.h"

namespace stripline {

/// A temporary file beside its destination, which commit() renames onto it. Without commit() the
/// destination stays as it was and the temporary file is removed. A file that is replaced leaves
/// who may read and write it to the new one; where the destination is a symbolic link to a file,
/// that one is replaced.
class AtomicFile {
 public:
  /// Errors: unavailable when it cannot be created, or the destination is no regular file (a
  /// folder, a device). With `mode` the file has just that, from before it has content.
  static Result<AtomicFile> create(const std::filesystem::path& destination,
                                   std::optional<mode_t> mode = std::nullopt);
  AtomicFile(AtomicFile&&) noexcept = default;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  /// Errors: unavailable when the disk is full.
  Status write(std::string_view data);
  /// Flushes to disk and renames. Errors: unavailable.
  Status commit();

 private:
  struct Close {
    // The owner itself. NOLINTNEXTLINE(cppcoreguidelines-owning-memory)
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  AtomicFile(std::filesystem::path destination, std::filesystem::path temporary, std::FILE* file)
      : destination_(std::move(destination)), temporary_(std::move(temporary)), file_(file) {}

  std::filesystem::path destination_;
  std::filesystem::path temporary_;
  std::unique_ptr<std::FILE, Close> file_;
};

/// All of a file at once. Errors: unavailable.
Status write_atomically(const std::filesystem::path& destination, std::string_view data);

}  // namespace stripline

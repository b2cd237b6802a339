#include "server/doors/uploads.h"

#include <algorithm>

namespace stripline::server {

void Uploads::forget_old(double now_s) {
  for (auto file = files_.begin(); file != files_.end();) {
    if (now_s - file->second.heard_s <= bounds_.patience_s) {
      ++file;
      continue;
    }
    bytes_ -= file->second.text.size();
    file = files_.erase(file);
  }
}

Answer<uint64_t> Uploads::add(const std::string& caller, const std::string& file, uint64_t offset,
                              std::string_view part, double now_s) {
  const std::lock_guard lock(mutex_);
  forget_old(now_s);
  auto found = files_.find({caller, file});
  const size_t present = found == files_.end() ? 0 : found->second.text.size();
  if (offset > present) {
    return invalid_field("offset", "the next part begins at " + std::to_string(present) +
                                       "; send the file from there on");
  }
  const size_t known = std::min(part.size(), present - static_cast<size_t>(offset));
  if (found != files_.end() &&
      found->second.text.compare(static_cast<size_t>(offset), known, part.substr(0, known)) != 0) {
    return invalid_field("data",
                         "another part of this upload came from there before; choose "
                         "another name for the upload");
  }
  part.remove_prefix(known);
  if (present + part.size() > bounds_.file_bytes) {
    return Problem{ErrorCode::resource_exhausted,
                   "TOO_LARGE",
                   "a file may have " + std::to_string(bounds_.file_bytes >> 20) + " MiB",
                   {}};
  }
  const auto of_caller =
      std::ranges::count_if(files_, [&](const auto& one) { return one.first.first == caller; });
  if (bytes_ + part.size() > bounds_.all_bytes ||
      (found == files_.end() && static_cast<size_t>(of_caller) >= bounds_.of_caller)) {
    return Problem{ErrorCode::resource_exhausted,
                   "BUSY",
                   "other files are coming in, as many as may at a time; try again later",
                   {}};
  }
  File& kept = found == files_.end() ? files_[{caller, file}] : found->second;
  kept.text.append(part);
  kept.heard_s = now_s;
  bytes_ += part.size();
  return uint64_t{kept.text.size()};
}

std::string Uploads::take(const std::string& caller, const std::string& file) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find({caller, file});
  if (found == files_.end()) return "";
  std::string text = std::move(found->second.text);
  bytes_ -= text.size();
  files_.erase(found);
  return text;
}

}  // namespace stripline::server

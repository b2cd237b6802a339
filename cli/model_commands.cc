#include "cli/model_commands.h"

#include <filesystem>
#include <optional>
#include <string>

#include "base/atomic_file.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "base/packed_export.h"
#include "base/printable.h"
#include "base/quantity.h"
#include "base/sha256.h"
#include "base/table.h"
#include "base/whole_file.h"
#include "cli/console.h"
#include "cli/find_model.h"
#include "cli/format.h"
#include "cli/names.h"
#include "cli/publishing_commands.h"
#include "cli/service.h"
#include "cli/settings_text.h"
#include "optimizer/model/model_json.h"
#include "optimizer/model/model_text.h"
#include "stripline/v1/models.pb.h"

namespace stripline::cli {
namespace {

constexpr int kPageSize = 100;

// The hash of what a version holds, a model or packed settings. Errors: data_loss.
Result<std::string> hash_of(const std::string& text, const std::string& what) {
  if (is_packed_export(text)) return sha256_hex(text);
  STRIPLINE_ASSIGN_OR_RETURN(const model::TunedModel model, model::parse_model(text, what));
  return model::content_sha256(model);
}

// The hash of the model or the settings in `path`; nullopt if there is no such file. Errors:
// already_exists when it is something else.
Result<std::optional<std::string>> existing_sha256(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::optional<std::string>();
  const auto hash = [&]() -> Result<std::string> {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string text, read_whole_file(path));
    return hash_of(text, "model file '" + path.string() + "'");
  }();
  if (hash.ok()) return std::optional<std::string>(*hash);
  return Error(ErrorCode::already_exists,
               "'" + path.string() + "' exists and is not an intact model (" +
                   hash.error().message() + "); remove it, or write elsewhere with --output");
}

// What a fetched model would overwrite is looked at before anything is fetched.
Status check_destination(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto there = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(there) || std::filesystem::is_regular_file(there)) return {};
  return Error(ErrorCode::unavailable, "cannot write '" + path.string() +
                                           "': it is not a regular file; name one, a new one, or "
                                           "'-' for standard output");
}

Result<int> list_versions(const Global& global, const std::string& name) {
  Service service(global);
  Table table({{"VERSION"},
               {"STATE"},
               {"CREATED"},
               {"SIZE", Table::Align::right},
               {"CAMPAIGNS"},
               {"SUMMARY"}});
  const auto summary_of = [](const v1::ModelVersion& version) {
    std::string text = version.summary();
    if (!version.provisional().empty()) {
      text = "PROVISIONAL, " + version.provisional() + "; " + text;
    }
    if (!version.failed().empty()) text = "FAILED: " + version.failed() + "; " + text;
    if (!version.stale().empty()) text = "STALE: " + version.stale() + "; " + text;
    if (!version.withdrawn().empty()) text = "WITHDRAWN: " + version.withdrawn() + "; " + text;
    return text;
  };
  v1::ListModelVersionsRequest request;
  request.set_parent(name);
  request.set_page_size(kPageSize);
  do {
    const auto page = service.call<v1::ListModelVersionsResponse>(request);
    if (!page.ok()) return with_nearest_model(service, name, page.error());
    for (const v1::ModelVersion& version : page->versions()) {
      if (global.json) {
        print(json_line(version));
        continue;
      }
      std::string campaigns;
      for (const std::string& campaign : version.campaigns()) {
        campaigns += (campaigns.empty() ? "" : ", ") + short_name(campaign);
      }
      table.add({short_name(version.name()), version_state_text(version),
                 date_text(version.create_time()), bytes_text(version.size_bytes()), campaigns,
                 summary_of(version)});
    }
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  if (!global.json) print(table.text());
  return kExitOk;
}

}  // namespace

Result<int> run(const Global& global, const ModelList& command) {
  if (!command.model.empty())
    return list_versions(global, "models/" + model_segment(command.model));
  Service service(global);
  Table table({{"MODEL"}, {"FABRIC"}, {"LATEST"}, {"CREATED"}});
  std::string warnings;
  std::string token;
  do {
    STRIPLINE_ASSIGN_OR_RETURN(const auto page,
                               service.call<v1::ListModelsResponse>(
                                   page_request<v1::ListModelsRequest>(kPageSize, token)));
    for (const v1::Model& model : page.models()) {
      if (global.json) {
        print(json_line(model));
      } else {
        table.add(
            {short_name(model.name()), model.fabric(),
             model.latest_version().empty() ? "all withdrawn" : short_name(model.latest_version()),
             date_text(model.create_time())});
      }
      if (model.unreadable().empty()) continue;
      warnings +=
          "stripline: warning: the server cannot read what it has of " + short_name(model.name()) +
          ", and offers nodes nothing of its fabric: " + printable_line(model.unreadable()) + "\n";
    }
    token = page.next_page_token();
  } while (!token.empty());
  if (!global.json) {
    print(table.empty() ? "no models yet; 'stripline campaign run --fabric tcp' makes one\n"
                        : table.text());
  }
  print_note(warnings);
  return kExitOk;
}

Result<int> run(const Global& global, const ModelShow& command) {
  const auto file = find_file(global, command.source);
  if (file.ok() && is_packed_export(*file)) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto text, settings_text(*file));
    print(global.json ? *file : text);
    return kExitOk;
  }
  const auto model = model_in(command.source, file);
  if (!model.ok()) return model.error();
  if (!global.json) {
    print(model::model_text(*model));
    return kExitOk;
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto document, model::to_json(*model));
  print(document.dump() + "\n");
  return kExitOk;
}

Result<int> run(const Global& global, const ModelFetch& command) {
  const std::filesystem::path path =
      command.output.empty() ? model_segment(command.name) + ".stripline.json" : command.output;
  const bool to_output = command.output == "-";
  Result<std::optional<std::string>> have = std::optional<std::string>();
  if (!to_output) {
    STRIPLINE_RETURN_IF_ERROR(check_destination(path));
    have = existing_sha256(path);
    if (!have.ok()) return have.error();
  }
  Service service(global);
  const auto fetched = service.fetch_model(
      command.name, have->value_or(""),
      command.accept_failed ? Service::Failed::accept : Service::Failed::refuse);
  if (!fetched.ok()) return with_nearest_model(service, command.name, fetched.error());
  const auto report = [&](const std::string& what, bool changed) {
    if (!fetched->withdrawn.empty()) {
      print_note("stripline: warning: " + short_name(fetched->version) +
                 " was withdrawn: " + printable_line(fetched->withdrawn) + "\n");
    }
    if (!fetched->failed.empty()) {
      print_note("stripline: warning: " + short_name(fetched->version) +
                 " failed its validation: " + printable_line(fetched->failed) + "\n");
    }
    if (!fetched->stale.empty()) {
      print_note("stripline: warning: " + short_name(fetched->version) +
                 " is stale: " + printable_line(fetched->stale) + "\n");
    }
    if (!fetched->provisional.empty()) {
      print_note("stripline: warning: " + short_name(fetched->version) +
                 " is provisional: " + printable_line(fetched->provisional) + "\n");
    }
    if (global.json) {
      const Json line = {{"file", path.string()},
                         {"version", fetched->version},
                         {"sha256", fetched->sha256},
                         {"provisional", fetched->provisional},
                         {"withdrawn", fetched->withdrawn},
                         {"failed", fetched->failed},
                         {"changed", changed}};
      print(line.dump() + "\n");
    } else {
      print(what + "\n");
    }
    return kExitOk;
  };
  if (fetched->data.empty() && have->has_value()) {
    return report(path.string() + " is current: " + short_name(fetched->version), false);
  }

  const auto sha256 = hash_of(fetched->data, fetched->version);
  if (!sha256.ok()) {
    return sha256.error().with_context("what the server sent was not written");
  }
  if (*sha256 != fetched->sha256) {
    return Error(ErrorCode::data_loss, fetched->version + " came with the hash " + *sha256 +
                                           " instead of " + fetched->sha256 +
                                           "; it was not written, fetch it again");
  }
  if (to_output) {
    print_data(fetched->data);
    return kExitOk;
  }
  STRIPLINE_ASSIGN_OR_RETURN(auto file, AtomicFile::create(path));
  Status status = file.write(fetched->data);
  if (status.ok()) status = file.commit();
  if (!status.ok()) return status.error();
  return report("wrote " + path.string() + ": " + short_name(fetched->version) + ", sha256 " +
                    fetched->sha256.substr(0, 12),
                true);
}

}  // namespace stripline::cli

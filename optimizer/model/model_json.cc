#include "optimizer/model/model_json.h"

#include <algorithm>
#include <utility>

#include "base/sha256.h"
#include "optimizer/model/sections.h"
#include "optimizer/model/validate.h"

namespace stripline::model {
namespace {

Error refused(const std::string& message) { return {ErrorCode::data_loss, message}; }

bool is_known_section(const std::string& name) {
  return name == "schema_version" || name == "sha256" ||
         std::ranges::any_of(sections(),
                             [&](const Section& known) { return known.member.name == name; });
}

Result<std::string> hash_without_member(const Json& document) {
  Json content = document;
  content.erase("sha256");
  STRIPLINE_ASSIGN_OR_RETURN(const std::string canonical, canonical_json(content));
  return sha256_hex(canonical);
}

Status read_sections(const Json& document, TunedModel& model) {
  for (const Section& section : sections()) {
    const Member<TunedModel>& member = section.member;
    const auto found = document.find(member.name);
    if (found == document.end() && !member.required) continue;
    const Json& value = found == document.end() ? detail::absent() : *found;
    STRIPLINE_RETURN_IF_ERROR(member.read(value, member.name, model));
  }
  for (const auto& [name, json] : document.items()) {
    if (is_known_section(name)) continue;
    STRIPLINE_ASSIGN_OR_RETURN(model.unknown_sections[name], canonical_json(json));
  }
  return {};
}

Result<TunedModel> read_document(const Json& document) {
  if (!document.is_object()) return refused("not a JSON object, so not a tuned model");
  const auto stated = document.find("sha256");
  if (stated == document.end() || !stated->is_string()) {
    return refused(
        "there is no 'sha256' member; this is not a tuned model, or it was cut; fetch it "
        "again with 'stripline model fetch'");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const std::string actual, hash_without_member(document));
  if (stated->get_ref<const std::string&>() != actual) {
    return refused("the file was altered or truncated: its content hashes to " + actual +
                   ", which is not its 'sha256'; fetch it again with 'stripline model fetch'");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const int64_t version,
                             get_integer(document, "schema_version", "model"));
  if (version != kSchemaVersion) {
    return Error(ErrorCode::failed_precondition,
                 "schema version " + std::to_string(version) +
                     " is not readable by this build, "
                     "which knows version " +
                     std::to_string(kSchemaVersion) +
                     "; use a matching stripline or fit the model again");
  }
  TunedModel model;
  STRIPLINE_RETURN_IF_ERROR(read_sections(document, model));
  if (const Status status = validate(model); !status) return refused(status.error().message());
  return model;
}

}  // namespace

Result<Json> to_json(const TunedModel& model) {
  STRIPLINE_RETURN_IF_ERROR(validate(model));
  Json document = {{"schema_version", kSchemaVersion}};
  for (const Section& section : sections()) {
    if (auto json = section.member.write(model)) document[section.member.name] = *std::move(json);
  }
  for (const auto& [name, text] : model.unknown_sections) {
    auto section = parse_json(text, "section '" + name + "'");
    if (is_known_section(name) || !section) {
      return Error(ErrorCode::invalid_argument,
                   "unknown section '" + name + "': " +
                       (section ? "the name belongs to a known section" : "its text is not JSON"));
    }
    document[name] = *std::move(section);
  }
  STRIPLINE_ASSIGN_OR_RETURN(document["sha256"], hash_without_member(document));
  return document;
}

Json model_schema() {
  Json definitions = Json::object();
  Json properties = {
      {"schema_version", {{"const", kSchemaVersion}}},
      {"sha256",
       {{"description", "SHA-256 of the canonical form of the document without this member"},
        {"type", "string"},
        {"pattern", "^[0-9a-f]{64}$"}}}};
  Json required = {"schema_version", "sha256"};
  for (const Section& section : sections()) {
    properties[section.member.name] = section.member.schema(definitions);
    if (section.member.required) required.push_back(section.member.name);
  }
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"$id", "https://stripline.invalid/schema/model-v1.schema.json"},
          {"title", "Stripline tuned model, schema version " + std::to_string(kSchemaVersion)},
          {"description",
           "Explained in docs/model-file.md. Members of the document that are not listed here are "
           "sections of later builds: kept and ignored."},
          {"type", "object"},
          {"required", std::move(required)},
          {"properties", std::move(properties)},
          {"$defs", std::move(definitions)}};
}

Result<std::string> content_sha256(const TunedModel& model) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json document, to_json(model));
  return document.at("sha256").get<std::string>();
}

Result<TunedModel> parse_model(std::string_view text, std::string_view what) {
  if (text.size() > kMaxModelFileBytes) {
    return refused(std::string(what) + ": larger than " + std::to_string(kMaxModelFileBytes) +
                   " bytes; no tuned model is");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Json document, parse_json(text, what));
  auto model = read_document(document);
  if (!model) return model.error().with_context(what);
  return model;
}

Result<TunedModel> load_model(const std::filesystem::path& path) {
  const std::string what = "model file '" + path.string() + "'";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return Error(ErrorCode::not_found,
                 "cannot read " + what + ": no such file; fetch one with 'stripline model fetch'");
  }
  auto document = read_json_file(path, kMaxModelFileBytes);
  if (!document) return document.error();  // names the file
  auto model = read_document(*document);
  if (!model) return model.error().with_context(what);
  return model;
}

Status save_model(const TunedModel& model, const std::filesystem::path& path) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json document, to_json(model));
  const size_t bytes = document.dump(2).size() + 1;  // and the end of the last line
  if (bytes > kMaxModelFileBytes) {
    return Error(ErrorCode::invalid_argument,
                 "model '" + model.name + "' would take " + std::to_string(bytes) +
                     " bytes as a file, and none larger than " +
                     std::to_string(kMaxModelFileBytes) +
                     " is read; leave out sections that are not needed");
  }
  return write_json_file(path, document);
}

}  // namespace stripline::model

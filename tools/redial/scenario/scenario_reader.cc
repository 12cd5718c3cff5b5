#include "tools/redial/scenario/scenario_reader.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "redial/config/json_document.h"
#include "redial/config/json_reader.h"
#include "redial/config/read_file.h"
#include "redial/config/service_config.h"
#include "redial/config/service_config_options.h"
#include "tools/redial/scenario/scenario_metadata_reader.h"
#include "tools/redial/scenario/scenario_names.h"

namespace redial {
namespace {

constexpr int64_t kMaxCalls = 100000;
constexpr int64_t kMaxConcurrency = 256;
constexpr int64_t kMaxEntries = 10000;

void ReadString(JsonObject* object, absl::string_view key, std::string* out) {
  const auto value = object->Optional(key);
  if (value.has_value()) *out = value->String().value_or("");
}

void ReadDuration(JsonObject* object, absl::string_view key,
                  absl::optional<absl::Duration>* out) {
  const auto value = object->Optional(key);
  if (value.has_value()) *out = value->Duration();
}

void ReadBool(JsonObject* object, absl::string_view key, bool* out) {
  const auto value = object->Optional(key);
  if (value.has_value()) *out = value->Bool().value_or(*out);
}

void ReadInteger(JsonObject* object, absl::string_view key, int64_t min,
                 int64_t max, int* out) {
  const auto value = object->Optional(key);
  if (value.has_value()) {
    *out = static_cast<int>(value->Integer(min, max).value_or(*out));
  }
}

// Calls `read` with each element of an array of a bounded length.
template <typename Read>
void ReadList(const JsonReader& reader, const Read& read) {
  const absl::optional<JsonArray> list = reader.Array();
  if (!list.has_value()) return;
  if (list->size() > static_cast<size_t>(kMaxEntries)) {
    return reader.Error(absl::StrCat(
        "has ", list->size(), " entries; must have at most ", kMaxEntries));
  }
  for (size_t i = 0; i < list->size(); ++i) read((*list)[i]);
}

bool IsGrpcMethod(const std::string& method) {
  const size_t slash = method.find('/', 1);
  if (!absl::StartsWith(method, "/") || slash == std::string::npos ||
      slash == 1 || slash + 1 == method.size() ||
      method.find('/', slash + 1) != std::string::npos) {
    return false;
  }
  for (char c : method) {
    if (!absl::ascii_isgraph(c)) return false;
  }
  return true;
}

absl::optional<ScenarioGrpcCall> ReadGrpcCall(const JsonReader& reader) {
  absl::optional<JsonObject> object = reader.Object();
  if (!object.has_value()) return absl::nullopt;
  ScenarioGrpcCall call;
  constexpr absl::string_view kMethod =
      "\"/package.Service/Method\", such as \"/redial.v1.Echo/Unary\"";
  const auto method = object->Required("method", kMethod);
  if (method.has_value()) {
    call.method = method->String().value_or("");
    if (method->is_string() && !IsGrpcMethod(call.method)) {
      method->Expected(kMethod);
    }
    for (absl::string_view stream : {"ServerStream", "ClientStream", "Bidi"}) {
      if (call.method == absl::StrCat("/redial.v1.Echo/", stream)) {
        method->Error("is a stream; scenarios call unary methods only");
      }
    }
  }
  const auto api = object->Optional("api");
  if (api.has_value()) call.api = ReadGrpcApi(*api).value_or(call.api);
  object->ReportUnknown(UnknownKeys::kError);
  return call;
}

absl::optional<ScenarioHttpCall> ReadHttpCall(const JsonReader& reader) {
  absl::optional<JsonObject> object = reader.Object();
  if (!object.has_value()) return absl::nullopt;
  ScenarioHttpCall call;
  const auto method = object->Required("method", "\"GET\", say");
  if (method.has_value()) call.method = method->String().value_or("");
  const auto path = object->Required("path", "a path that begins with '/'");
  if (path.has_value()) {
    call.path = path->String().value_or("/");
    if (!absl::StartsWith(call.path, "/")) {
      path->Expected("a path that begins with '/'");
    }
  }
  const auto headers = object->Optional("headers");
  if (headers.has_value()) call.headers = ReadScenarioHeaders(*headers);
  ReadString(&*object, "body", &call.body);
  ReadBool(&*object, "replayable", &call.replayable);
  object->ReportUnknown(UnknownKeys::kError);
  return call;
}

ScenarioCallOptions ReadOptions(const JsonReader& reader) {
  ScenarioCallOptions options;
  absl::optional<JsonObject> object = reader.Object();
  if (!object.has_value()) return options;
  const auto attempts = object->Optional("maxAttempts");
  if (attempts.has_value()) {
    const auto value = attempts->Integer(1, INT32_MAX);
    if (value.has_value()) options.max_attempts = static_cast<int>(*value);
  }
  ReadDuration(&*object, "attemptTimeout", &options.attempt_timeout);
  const auto key = object->Optional("idempotencyKey");
  if (key.has_value()) options.idempotency_key = key->String();
  object->ReportUnknown(UnknownKeys::kError);
  return options;
}

ScenarioCall ReadCall(const JsonReader& reader) {
  ScenarioCall call;
  absl::optional<JsonObject> object = reader.Object();
  if (!object.has_value()) return call;
  const auto grpc = object->Optional("grpc");
  if (grpc.has_value()) call.grpc = ReadGrpcCall(*grpc);
  const auto http = object->Optional("http");
  if (http.has_value()) call.http = ReadHttpCall(*http);
  if (!grpc.has_value() && !http.has_value()) {
    reader.Error("must have \"grpc\" or \"http\": what is called");
  }
  ReadDuration(&*object, "timeout", &call.timeout);
  const auto metadata = object->Optional("metadata");
  if (metadata.has_value()) call.metadata = ReadScenarioMetadata(*metadata);
  ReadDuration(&*object, "cancelAfter", &call.cancel_after);
  const auto options = object->Optional("options");
  if (options.has_value()) call.options = ReadOptions(*options);
  CheckHeaderBytes(
      reader, "method, metadata and key",
      HeaderBytes(call.metadata) +
          HeaderBytes("", call.grpc.has_value() ? call.grpc->method : "") +
          HeaderBytes("", call.options.idempotency_key.value_or("")));
  ReadInteger(&*object, "repeat", 1, kMaxCalls, &call.repeat);
  ReadInteger(&*object, "concurrency", 1, kMaxConcurrency, &call.concurrency);
  ReadDuration(&*object, "startAfter", &call.start_after);
  object->ReportUnknown(UnknownKeys::kError);
  return call;
}

ScenarioAnswer ReadAnswer(const JsonReader& reader) {
  ScenarioAnswer answer;
  absl::optional<JsonObject> object = reader.Object();
  if (!object.has_value()) return answer;
  ReadInteger(&*object, "httpStatus", 100, 599, &answer.http_status);
  if (answer.http_status != 0) {
    answer.status = CodeOfHttpStatus(answer.http_status);
  }
  const auto status = object->Optional("status");
  if (status.has_value()) {
    answer.status = ReadCode(*status).value_or(answer.status);
  }
  ReadString(&*object, "message", &answer.message);
  absl::optional<absl::Duration> delay;
  ReadDuration(&*object, "delay", &delay);
  answer.delay = delay.value_or(absl::ZeroDuration());
  const auto initial = object->Optional("initialMetadata");
  if (initial.has_value()) {
    answer.initial_metadata = ReadScenarioMetadata(*initial);
  }
  const auto trailers = object->Optional("trailers");
  if (trailers.has_value()) answer.trailers = ReadScenarioMetadata(*trailers);
  ReadDuration(&*object, "retryInfo", &answer.retry_info);
  if (answer.retry_info.has_value() &&
      answer.trailers.count("grpc-status-details-bin") > 0) {
    reader.Error(
        "has \"retryInfo\" and a trailer grpc-status-details-bin, which "
        "carries it; give one of the two");
  }
  CheckHeaderBytes(reader, "initialMetadata",
                   HeaderBytes(answer.initial_metadata));
  // RetryInfo brings the message along a second time.
  CheckHeaderBytes(
      reader, "trailers and message",
      HeaderBytes(answer.trailers) + StatusMessageBytes(answer.message) +
          (answer.retry_info.has_value()
               ? HeaderBytes("grpc-status-details-bin", answer.message)
               : 0));
  ReadBool(&*object, "hang", &answer.hang);
  ReadBool(&*object, "drop", &answer.drop);
  if (answer.hang && answer.drop) {
    reader.Error("has \"hang\" and \"drop\"; an answer is one of the two");
  }
  ReadInteger(&*object, "messages", 0, kMaxEntries, &answer.messages);
  const auto headers = object->Optional("headers");
  if (headers.has_value()) answer.headers = ReadScenarioHeaders(*headers);
  ReadString(&*object, "body", &answer.body);
  object->ReportUnknown(UnknownKeys::kError);
  return answer;
}

ScenarioRange ReadRange(const JsonReader& reader) {
  ScenarioRange range;
  absl::optional<JsonObject> object = reader.Object();
  if (!object.has_value()) return range;
  absl::optional<absl::Duration> at_least, at_most;
  ReadDuration(&*object, "atLeast", &at_least);
  ReadDuration(&*object, "atMost", &at_most);
  range.at_least = at_least.value_or(range.at_least);
  range.at_most = at_most.value_or(range.at_most);
  if (range.at_least > range.at_most) {
    reader.Error("\"atLeast\" is above \"atMost\"");
  }
  object->ReportUnknown(UnknownKeys::kError);
  return range;
}

ScenarioExpectedCall ReadExpectedCall(const JsonReader& reader) {
  ScenarioExpectedCall expected;
  absl::optional<JsonObject> object = reader.Object();
  if (!object.has_value()) return expected;
  const auto code = object->Optional("code");
  if (code.has_value()) expected.code = ReadCode(*code);
  const auto attempts = object->Optional("attempts");
  if (attempts.has_value()) {
    const auto value = attempts->Integer(0, INT32_MAX);
    if (value.has_value()) expected.attempts = static_cast<int>(*value);
  }
  const auto reason = object->Optional("stopReason");
  if (reason.has_value()) expected.stop_reason = ReadStopReason(*reason);
  const auto elapsed = object->Optional("elapsed");
  if (elapsed.has_value()) expected.elapsed = ReadRange(*elapsed);
  const auto waits = object->Optional("waits");
  if (waits.has_value()) {
    expected.waits.emplace();
    ReadList(*waits, [&](const JsonReader& wait) {
      expected.waits->push_back(ReadRange(wait));
    });
  }
  object->ReportUnknown(UnknownKeys::kError);
  return expected;
}

// `at` stands before the paths of the config's own problems.
std::shared_ptr<const PolicyTable> ReadPolicy(absl::string_view json,
                                              const std::string& at,
                                              ProblemList* problems) {
  ServiceConfigResult result = ServiceConfig::Read(json);
  const auto path = [&](const ConfigProblem& problem) {
    return problem.path.empty() ? at : absl::StrCat(at, ".", problem.path);
  };
  for (const ConfigProblem& problem : result.errors) {
    problems->AddError(path(problem), problem.message);
  }
  for (const ConfigProblem& problem : result.warnings) {
    problems->AddWarning(path(problem), problem.message);
  }
  return result.policy;
}

std::shared_ptr<const PolicyTable> ReadServiceConfig(absl::string_view json,
                                                     const std::string& folder,
                                                     JsonObject* root,
                                                     ProblemList* problems) {
  const auto config = root->Optional("serviceConfig");
  const auto file = root->Optional("serviceConfigFile");
  if (config.has_value() && file.has_value()) {
    file->Error("stands in place of \"serviceConfig\"; give one of the two");
    return nullptr;
  }
  if (config.has_value()) {
    if (!config->Object().has_value()) return nullptr;
    return ReadPolicy(JsonTextAt(json, "serviceConfig"), "serviceConfig",
                      problems);
  }
  if (!file.has_value()) return std::make_shared<PolicyTable>();
  const absl::optional<std::string> name = file->String();
  if (!name.has_value()) return nullptr;
  const std::string path = absl::StartsWith(*name, "/") || folder.empty()
                               ? *name
                               : absl::StrCat(folder, "/", *name);
  const absl::StatusOr<std::string> text = ReadJsonFile(path);
  if (!text.ok()) {
    file->Error(std::string(text.status().message()));
    return nullptr;
  }
  return ReadPolicy(*text, absl::StrCat("serviceConfigFile(", *name, ")"),
                    problems);
}

void ReadRoot(absl::string_view json, const std::string& folder,
              const JsonReader& reader, ProblemList* problems,
              Scenario* scenario) {
  absl::optional<JsonObject> root = reader.Object();
  if (!root.has_value()) return;
  ReadString(&*root, "name", &scenario->name);
  scenario->policy = ReadServiceConfig(json, folder, &*root, problems);
  const auto calls = root->Required("calls", "a list of at least one call");
  if (calls.has_value()) {
    ReadList(*calls, [&](const JsonReader& call) {
      scenario->calls.push_back(ReadCall(call));
    });
    int64_t total = 0;
    for (const ScenarioCall& call : scenario->calls) total += call.repeat;
    if (total > kMaxCalls) {
      calls->Error(absl::StrCat("makes ", total,
                                " calls in all; must be at most ", kMaxCalls));
    }
    if (scenario->calls.empty() && calls->Array().has_value()) {
      calls->Error("must have at least one call");
    }
  }
  const auto server = root->Optional("server");
  if (server.has_value()) {
    ReadList(*server, [&](const JsonReader& answer) {
      scenario->server.push_back(ReadAnswer(answer));
    });
  }
  if (scenario->server.empty()) scenario->server.emplace_back();
  const auto expect = root->Optional("expect");
  if (expect.has_value()) {
    absl::optional<JsonObject> object = expect->Object();
    if (object.has_value()) {
      const auto expected = object->Optional("calls");
      if (expected.has_value()) {
        const absl::optional<JsonArray> list = expected->Array();
        for (size_t i = 0; list.has_value() && i < list->size(); ++i) {
          scenario->expect.push_back(ReadExpectedCall((*list)[i]));
        }
      }
      object->ReportUnknown(UnknownKeys::kError);
    }
  }
  root->ReportUnknown(UnknownKeys::kError);
}

}  // namespace

ScenarioFile ReadScenario(absl::string_view json, const std::string& folder) {
  ScenarioFile file;
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(json);
  if (!document.ok()) {
    file.errors.push_back({"", std::string(document.status().message())});
    return file;
  }
  ProblemList problems;
  Scenario scenario;
  ReadRoot(json, folder, JsonReader(document->root(), "", &problems), &problems,
           &scenario);
  problems.Sort(json);
  file.errors = problems.errors();
  file.warnings = problems.warnings();
  if (!problems.has_errors()) file.scenario = std::move(scenario);
  return file;
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string()
                                    : path.substr(0, slash == 0 ? 1 : slash);
}

ScenarioFile ReadScenarioFile(const std::string& path) {
  absl::StatusOr<std::string> text = ReadJsonFile(path);
  if (!text.ok()) {
    ScenarioFile file;
    absl::string_view message = text.status().message();
    absl::ConsumePrefix(&message, absl::StrCat(path, ": "));
    file.errors.push_back({"", std::string(message)});
    return file;
  }
  ScenarioFile file = ReadScenario(*text, FolderOf(path));
  file.text = *std::move(text);
  return file;
}

}  // namespace redial

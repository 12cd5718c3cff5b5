#include "tools/redial/scenario/timeline.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "redial/config/duration_text.h"
#include "redial/config/json_utf8.h"
#include "redial/testing/metadata_rules.h"
#include "tools/redial/scenario/scenario_names.h"

namespace redial {
namespace {

constexpr size_t kColumns = 100;
// Of a run with thousands of calls a person reads the first few.
constexpr size_t kMaxCallsShown = 50;
constexpr size_t kMaxRequestsShown = 100;

enum class Ink { kPlain, kGood, kBad, kQuiet };

std::string Inked(absl::string_view text, Ink ink, bool color) {
  if (!color || ink == Ink::kPlain) return std::string(text);
  const absl::string_view code = ink == Ink::kGood  ? "32"
                                 : ink == Ink::kBad ? "31"
                                                    : "2";
  return absl::StrCat("\033[", code, "m", text, "\033[0m");
}

// One line of printable text: what a peer sent must not steer a terminal. Cut
// to `width` characters.
std::string Printable(absl::string_view text, size_t width) {
  std::string line;
  size_t used = 0;
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const unsigned char c = static_cast<unsigned char>(text.front());
    // Control characters, the eight-bit ones too.
    const bool shown = length > 0 && c >= 0x20 && c != 0x7f &&
                       !(length == 2 && c == 0xc2 &&
                         static_cast<unsigned char>(text[1]) < 0xa0);
    if (used + 1 >= width && text.size() > std::max<size_t>(length, 1)) {
      return line + "…";
    }
    if (used == width) return line;
    if (shown) {
      line.append(text.data(), length);
    } else {
      line.push_back('?');
    }
    ++used;
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return line;
}

// A measured time, "0.250s".
std::string Seconds(absl::Duration length) {
  if (length == absl::InfiniteDuration()) return "none";
  return absl::StrFormat("%.3fs", absl::ToDoubleSeconds(length));
}

absl::string_view KindText(AttemptKind kind) {
  switch (kind) {
    case AttemptKind::kFirst:
      return "first";
    case AttemptKind::kRetry:
      return "retry";
    case AttemptKind::kHedge:
      return "hedge";
  }
  return "";
}

Ink InkOf(absl::StatusCode code) {
  return code == absl::StatusCode::kOk ? Ink::kGood : Ink::kBad;
}

std::string CallTitle(const Scenario& scenario, const ScenarioResult& result,
                      size_t number) {
  const ScenarioCallResult& call = result.calls[number];
  const ScenarioCall& scripted = scenario.calls[call.entry];
  std::string title = absl::StrCat("Call ", number + 1);
  if (scripted.grpc.has_value()) {
    absl::StrAppend(&title, "  ", Printable(scripted.grpc->method, 50), "  ",
                    GrpcApiName(scripted.grpc->api));
  }
  absl::StrAppend(&title, "  at ", Seconds(call.began));
  if (scripted.timeout.has_value()) {
    absl::StrAppend(&title, "  timeout ", Seconds(*scripted.timeout));
  }
  return title;
}

std::string MetadataText(const ScenarioMetadata& metadata) {
  std::string text;
  for (const auto& [name, value] : metadata) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", name, "=",
                    IsBinaryMetadata(name) ? absl::Base64Escape(value) : value);
  }
  return text;
}

void PrintServer(const ScenarioResult& result, bool color, std::ostream& out) {
  out << "Server: "
      << (result.server.size() == 1
              ? "1 request"
              : absl::StrCat(result.server.size(), " requests"))
      << "\n";
  const size_t shown = std::min(result.server.size(), kMaxRequestsShown);
  for (size_t i = 0; i < shown; ++i) {
    const ScenarioServerEntry& entry = result.server[i];
    std::string line =
        absl::StrFormat("  %8s   attempt %d  time left %s%s", Seconds(entry.at),
                        entry.attempt, Seconds(entry.deadline),
                        entry.cancelled ? "  given up by the client" : "");
    out << line;
    const size_t start = line.size();
    if (!entry.metadata.empty()) {
      line.resize(std::max<size_t>(line.size() + 2, 44), ' ');
      const size_t room = kColumns - std::min(line.size(), kColumns - 8);
      out << absl::StrFormat("%*s", static_cast<int>(line.size() - start), "")
          << Inked(Printable(MetadataText(entry.metadata), room), Ink::kQuiet,
                   color);
    }
    out << "\n";
  }
  if (shown < result.server.size()) {
    out << "  ... and " << result.server.size() - shown << " more\n";
  }
}

}  // namespace

absl::string_view WaitText(WaitSource from) {
  switch (from) {
    case WaitSource::kNone:
      return "no wait";
    case WaitSource::kBackoff:
      return "backoff of the policy";
    case WaitSource::kPushback:
      return "the server asked: grpc-retry-pushback-ms";
    case WaitSource::kRetryInfo:
      return "the server asked: RetryInfo";
    case WaitSource::kRetryAfter:
      return "the server asked: Retry-After";
    case WaitSource::kPacing:
      return "pacing";
    case WaitSource::kHedge:
      return "hedging delay";
  }
  return "";
}

bool ColorOnStandardOutput() {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 &&
         (no_color == nullptr || no_color[0] == '\0');
}

void PrintCall(const CallReport& report, const std::string& message, bool color,
               std::ostream& out) {
  for (const AttemptRecord& attempt : report.attempts) {
    if (attempt.wait_from != WaitSource::kNone) {
      out << absl::StrFormat("  %19s   wait %s: %s\n", "",
                             Seconds(attempt.wait),
                             WaitText(attempt.wait_from));
    }
    out << absl::StrFormat("  %8s - %8s   %s %d: ", Seconds(attempt.start),
                           Seconds(attempt.end), KindText(attempt.kind),
                           attempt.number)
        << Inked(CodeName(attempt.code), InkOf(attempt.code), color);
    if (attempt.outcome_class != OutcomeClass::kSuccess) {
      out << " (" << OutcomeClassName(attempt.outcome_class) << ")";
    }
    out << "\n";
  }
  const std::string told =
      absl::StrFormat("  %19s   caller told ", Seconds(report.elapsed));
  out << told << Inked(CodeName(report.code), InkOf(report.code), color) << ": "
      << StopReasonText(report.stop_reason) << "\n";
  if (!message.empty()) {
    out << absl::StrFormat("  %19s   ", "") << "\""
        << Printable(message, kColumns - 26) << "\"\n";
  }
  if (!report.idempotency_key.empty()) {
    out << absl::StrFormat("  %19s   idempotency key ", "")
        << Printable(report.idempotency_key, kColumns - 40) << "\n";
  }
}

void PrintTimeline(const Scenario& scenario, const ScenarioResult& result,
                   bool color, std::ostream& out) {
  out << Printable(result.name.empty() ? "scenario" : result.name,
                   kColumns - 30)
      << (result.on == "sim" ? " (simulated, virtual time)"
                             : absl::StrCat(" (on ", result.on, ")"))
      << "\n\n";
  const size_t shown = std::min(result.calls.size(), kMaxCallsShown);
  for (size_t i = 0; i < shown; ++i) {
    out << CallTitle(scenario, result, i) << "\n";
    PrintCall(result.calls[i].report, result.calls[i].message, color, out);
    out << "\n";
  }
  if (shown < result.calls.size()) {
    std::map<absl::string_view, size_t> reasons;
    for (const ScenarioCallResult& call : result.calls) {
      ++reasons[StopReasonText(call.report.stop_reason)];
    }
    out << "... and " << result.calls.size() - shown
        << " more calls. In all:\n";
    for (const auto& [reason, count] : reasons) {
      out << absl::StrFormat("  %6d  ", count) << reason << "\n";
    }
    out << "\n";
  }
  PrintServer(result, color, out);
}

void PrintExpectations(const Scenario& scenario,
                       const std::vector<std::string>& failures, bool color,
                       std::ostream& out) {
  if (scenario.expect.empty()) return;
  out << "\n";
  if (failures.empty()) {
    out << Inked("All expectations hold.", Ink::kGood, color) << "\n";
    return;
  }
  for (const std::string& failure : failures) {
    out << Inked("NOT AS EXPECTED", Ink::kBad, color) << "  " << failure
        << "\n";
  }
}

}  // namespace redial

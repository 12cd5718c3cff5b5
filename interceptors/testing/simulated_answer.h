// SimulatedAnswer: what a scripted peer does with one attempt.
//
// A value that owns its text, from which the simulator makes the Outcome that
// an adapter would report.
//
//   SimulatedAnswer::Ok().After(absl::Milliseconds(10))
//   SimulatedAnswer::Error(absl::StatusCode::kUnavailable)
//       .WithTrailer("grpc-retry-pushback-ms", "40")
//   SimulatedAnswer::Hang()
#ifndef REDIAL_TESTING_SIMULATED_ANSWER_H_
#define REDIAL_TESTING_SIMULATED_ANSWER_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "redial/core/outcome.h"

namespace redial {

struct SimulatedAnswer {
  static SimulatedAnswer Ok() { return SimulatedAnswer(); }
  static SimulatedAnswer Error(absl::StatusCode code,
                               absl::string_view message = "");
  // Never answers: the attempt ends at its deadline or when it is cancelled.
  static SimulatedAnswer Hang();
  // The connection ends in the middle.
  static SimulatedAnswer Drop();

  SimulatedAnswer& After(absl::Duration delay);
  SimulatedAnswer& WithTrailer(absl::string_view name, absl::string_view value);
  SimulatedAnswer& WithRetryInfo(absl::Duration delay);
  SimulatedAnswer& WithHeaders();

  absl::StatusCode code = absl::StatusCode::kOk;
  std::string message;
  int http_status = 0;
  // From the start of the attempt to its end. Infinite: never.
  absl::Duration delay;
  // Trailers of a gRPC answer, headers of an HTTP answer; names in lower case.
  std::multimap<std::string, std::string> metadata;
  // A serialized google.rpc.Status (status_details.h).
  std::string status_details;

  TransportError transport_error = TransportError::kNone;
  bool unprocessed = false;
  bool headers_received = false;
  // So long after the start of the attempt headers arrive, whether or not an
  // answer follows. Absent: with the answer.
  absl::optional<absl::Duration> headers_after;
  // The caller sees a first part of the answer so long after the start of the
  // attempt (if the attempt lasts so long).
  absl::optional<absl::Duration> handed_over_after;
  Replay replay = Replay::kPossible;
  // In place of what is read from the metadata and the details.
  absl::optional<Pushback> pushback;
};

// A view of the metadata of an answer, which it must not outlive. Of several
// values of one name the first is found.
class SimulatedMetadata final : public MetadataView {
 public:
  explicit SimulatedMetadata(
      const std::multimap<std::string, std::string>& metadata)
      : metadata_(metadata) {}

  absl::optional<absl::string_view> Find(absl::string_view name) const override;

 private:
  const std::multimap<std::string, std::string>& metadata_;
};

// Both arguments must outlive the result.
Outcome OutcomeOf(const SimulatedAnswer& answer,
                  const SimulatedMetadata& metadata);

}  // namespace redial

#endif  // REDIAL_TESTING_SIMULATED_ANSWER_H_

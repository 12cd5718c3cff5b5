// Outcome: what one attempt reported, in words that fit every transport.
//
// An adapter maps its own result (a gRPC status, an HTTP answer, a socket
// error) to an Outcome and hands it to the machine, which decides. An Outcome
// only borrows text: it is read during the call it is passed to and not kept.
#ifndef REDIAL_CORE_OUTCOME_H_
#define REDIAL_CORE_OUTCOME_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"

namespace redial {

// Where a wait between two attempts came from.
enum class WaitSource {
  kNone,        // no wait: the first attempt
  kBackoff,     // the policy's own backoff
  kPushback,    // `grpc-retry-pushback-ms`
  kRetryInfo,   // google.rpc.RetryInfo in the error details
  kRetryAfter,  // Retry-After and its millisecond and RateLimit relatives
  kPacing,
  kHedge,
};

// What the server asked for about the next attempt (features 2.3, 2.4).
struct Pushback {
  enum class Kind { kNone, kDelay, kStop };
  Kind kind = Kind::kNone;
  // Meaningful for kDelay; never negative.
  absl::Duration delay;
  WaitSource source = WaitSource::kNone;
  // A header or detail was there and could not be understood.
  bool malformed = false;
};

// What went wrong below the level of an answer.
enum class TransportError {
  kNone,
  kNotSent,   // refused connection, name not found: nothing left this process
  kReset,     // the connection ended in the middle
  kProtocol,  // the peer broke the protocol
  kOther,
};

// Whether the request can be sent again.
enum class Replay {
  kPossible,
  kTooLarge,            // above the limit of what is kept per call
  kOneShot,             // the body can be read only once
  kUnknownMessageType,  // the response object is of a type we cannot fill
};

// Looks up what the peer sent beside the answer. Names are lower case. The
// view is alive as long as the MetadataView is.
class MetadataView {
 public:
  virtual ~MetadataView() = default;
  virtual absl::optional<absl::string_view> Find(
      absl::string_view name) const = 0;
};

struct Outcome {
  // The canonical code; for HTTP the one its status maps to.
  absl::StatusCode code = absl::StatusCode::kOk;
  absl::string_view message;
  // 0 where the transport has none.
  int http_status = 0;
  TransportError transport_error = TransportError::kNone;
  // The adapter ended the attempt because its own timeout ran out.
  bool attempt_timed_out = false;
  // The server provably did not act on the request.
  bool unprocessed = false;
  // The server answered with headers before its status, which commits the call
  // (A6) unless the policy lifts that, because nothing reached the caller.
  bool headers_received = false;
  // Something of the answer reached the caller: never retried.
  bool handed_over = false;
  Replay replay = Replay::kPossible;
  Pushback pushback;
  // google.rpc.ErrorInfo, where the details carried one.
  absl::string_view error_reason;
  absl::string_view error_domain;
  // Headers and trailers; may be null.
  const MetadataView* metadata = nullptr;

  bool ok() const { return code == absl::StatusCode::kOk; }
};

}  // namespace redial

#endif  // REDIAL_CORE_OUTCOME_H_

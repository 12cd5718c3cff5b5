// GrpcOutcome: from a gRPC status and its metadata to an Outcome of core.
#ifndef REDIAL_GRPC_GRPC_OUTCOME_H_
#define REDIAL_GRPC_GRPC_OUTCOME_H_

#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>
#include <grpcpp/support/string_ref.h>

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "redial/core/outcome.h"

namespace redial {

using GrpcMetadata = std::multimap<grpc::string_ref, grpc::string_ref>;

// Borrows status and metadata: they must outlive it. `headers` may be null.
class GrpcOutcome final : public MetadataView {
 public:
  GrpcOutcome(const grpc::Status& status, const GrpcMetadata& trailers,
              const GrpcMetadata* headers);

  GrpcOutcome(const GrpcOutcome&) = delete;
  GrpcOutcome& operator=(const GrpcOutcome&) = delete;

  Outcome& outcome() { return outcome_; }

  // Trailers before headers.
  absl::optional<absl::string_view> Find(absl::string_view name) const override;

 private:
  const GrpcMetadata& trailers_;
  const GrpcMetadata* const headers_;
  const std::string message_;
  const std::string details_;
  Outcome outcome_;
};

absl::StatusCode CanonicalCode(grpc::StatusCode code);
grpc::Status GrpcStatus(const absl::Status& status);

// Whether the server answered with headers before its status (A6: that commits
// the call). False for trailers-only answers, and where no answer came.
// `context` is that of a failed attempt which has ended; `cancelled` where this
// side cancelled it.
bool ReceivedHeaders(grpc::ClientContext& context, bool cancelled);

// Whether a failed attempt that has ended was cancelled on this side. False as
// well where that cannot be told: on channels to an address ("ipv4:...").
bool CancelledHere(const grpc::ClientContext& context,
                   const grpc::Status& status);

}  // namespace redial

#endif  // REDIAL_GRPC_GRPC_OUTCOME_H_

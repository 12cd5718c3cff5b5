// InheritedDeadline: the deadline of the server call that this thread serves
// (features 3.3).
//
// A transport's server side opens a scope on the handler's thread
// (DeadlineScope for gRPC); the client side of every transport reads the
// innermost one when a call is created. Scopes nest: the earlier deadline
// holds. An opt-out scope hides what is outside of it.
#ifndef REDIAL_CORE_INHERITED_DEADLINE_H_
#define REDIAL_CORE_INHERITED_DEADLINE_H_

#include <memory>

#include "absl/time/time.h"
#include "redial/core/instant.h"

namespace redial {

struct InheritedDeadline {
  // Reserves are taken off already.
  Instant deadline = Instant::Infinite();
  // What a transport needs to hear of the server call's end; opaque to others.
  // Null: cancellation is not inherited.
  std::shared_ptr<void> server_call;
};

// The innermost scope's, null where none is open on this thread. Valid while
// that scope is.
const InheritedDeadline* CurrentInheritedDeadline();

// Opens a scope on this thread. Scopes are closed on the same thread in reverse
// order, as automatic variables are.
class InheritedDeadlineScope {
 public:
  enum class Outer { kCombine, kHide };

  // kCombine: the earlier of `inner.deadline` and what is outside; the outer
  // server call stays where `inner` names none.
  InheritedDeadlineScope(InheritedDeadline inner, Outer outer);
  ~InheritedDeadlineScope();

  InheritedDeadlineScope(const InheritedDeadlineScope&) = delete;
  InheritedDeadlineScope& operator=(const InheritedDeadlineScope&) = delete;

 private:
  InheritedDeadline effective_;
  const InheritedDeadline* const outer_;
};

}  // namespace redial

#endif  // REDIAL_CORE_INHERITED_DEADLINE_H_

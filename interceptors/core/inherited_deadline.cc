#include "redial/core/inherited_deadline.h"

#include <algorithm>
#include <utility>

namespace redial {
namespace {

thread_local const InheritedDeadline* current = nullptr;

}  // namespace

const InheritedDeadline* CurrentInheritedDeadline() { return current; }

InheritedDeadlineScope::InheritedDeadlineScope(InheritedDeadline inner,
                                               Outer outer)
    : effective_(std::move(inner)), outer_(current) {
  if (outer == Outer::kCombine && outer_ != nullptr) {
    effective_.deadline = std::min(effective_.deadline, outer_->deadline);
    if (effective_.server_call == nullptr) {
      effective_.server_call = outer_->server_call;
    }
  }
  current = &effective_;
}

InheritedDeadlineScope::~InheritedDeadlineScope() { current = outer_; }

}  // namespace redial

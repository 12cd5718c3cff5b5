#include "redial/config/config_problem.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "redial/config/json_path.h"
#include "redial/config/json_scanner.h"

namespace redial {
namespace {

using Positions = absl::flat_hash_map<std::string, size_t>;

// Numbers the paths that are in `positions` as they come in the text.
class PositionVisitor final : public JsonPathVisitor {
 public:
  explicit PositionVisitor(Positions* positions) : positions_(positions) {}

 protected:
  void OnValue(const std::string& path, absl::string_view,
               absl::string_view) override {
    ++count_;
    const auto it = positions_->find(path);
    if (it != positions_->end()) it->second = count_;
  }

 private:
  Positions* const positions_;
  size_t count_ = 0;
};

absl::string_view Parent(absl::string_view path) {
  const size_t end = path.find_last_of(".[");
  return end == path.npos ? "" : path.substr(0, end);
}

size_t PositionOf(absl::string_view path, const Positions& positions) {
  while (true) {
    const auto it = positions.find(path);
    if (it != positions.end() && it->second != 0) return it->second;
    if (path.empty()) return 0;
    path = Parent(path);
  }
}

void SortList(const Positions& positions, std::vector<ConfigProblem>* list) {
  std::stable_sort(list->begin(), list->end(),
                   [&](const ConfigProblem& a, const ConfigProblem& b) {
                     return PositionOf(a.path, positions) <
                            PositionOf(b.path, positions);
                   });
}

void AddLeftOut(size_t left_out, std::vector<ConfigProblem>* list) {
  if (left_out > 0) {
    list->push_back({"", absl::StrCat("and ", left_out, " more")});
  }
}

}  // namespace

std::string ConfigProblem::ToString() const {
  return path.empty() ? message : absl::StrCat(path, ": ", message);
}

void ProblemList::Add(std::string path, std::string message,
                      std::vector<ConfigProblem>* problems, size_t* left_out) {
  if (problems->size() < kMaxProblems) {
    problems->push_back({std::move(path), std::move(message)});
  } else {
    ++*left_out;
  }
}

void ProblemList::Sort(absl::string_view text) {
  if (errors_.size() > 1 || warnings_.size() > 1) {
    Positions positions;
    for (const auto* list : {&errors_, &warnings_}) {
      for (const ConfigProblem& problem : *list) {
        for (absl::string_view path = problem.path; !path.empty();
             path = Parent(path)) {
          positions.try_emplace(path, 0);
        }
      }
    }
    PositionVisitor visitor(&positions);
    ScanJson(text, &visitor).IgnoreError();
    SortList(positions, &errors_);
    SortList(positions, &warnings_);
  }
  AddLeftOut(errors_left_out_, &errors_);
  AddLeftOut(warnings_left_out_, &warnings_);
}

absl::Status StatusOfProblems(absl::string_view source_name,
                              const std::vector<ConfigProblem>& errors) {
  if (errors.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      source_name, source_name.empty() ? "" : ": ",
      errors.size() == 1 ? std::string()
                         : absl::StrCat(errors.size(), " errors: "),
      absl::StrJoin(errors, "; ",
                    [](std::string* out, const ConfigProblem& problem) {
                      absl::StrAppend(out, problem.ToString());
                    })));
}

}  // namespace redial

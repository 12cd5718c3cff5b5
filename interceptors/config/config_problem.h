// ConfigProblem: what is wrong at one place of a document, and what would be
// right. ProblemList collects them while a document is read.
//
// Not thread-safe: a list belongs to one reading.
//
//   ProblemList problems;
//   problems.AddError("methodConfig[0].timeout", "is 5; must be ...");
//   problems.Sort(text);
#ifndef REDIAL_CONFIG_CONFIG_PROBLEM_H_
#define REDIAL_CONFIG_CONFIG_PROBLEM_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace redial {

struct ConfigProblem {
  // A JSON path, "methodConfig[0].retryPolicy.maxAttempts"; empty: the
  // document.
  std::string path;
  // What is wrong and what would be right.
  std::string message;

  // "path: message".
  std::string ToString() const;
};

class ProblemList {
 public:
  // Of each sort so many are kept; a last one then says how many more there
  // are.
  static constexpr size_t kMaxProblems = 1000;

  void AddError(std::string path, std::string message) {
    Add(std::move(path), std::move(message), &errors_, &errors_left_out_);
  }
  void AddWarning(std::string path, std::string message) {
    Add(std::move(path), std::move(message), &warnings_, &warnings_left_out_);
  }

  bool has_errors() const { return !errors_.empty(); }
  const std::vector<ConfigProblem>& errors() const { return errors_; }
  const std::vector<ConfigProblem>& warnings() const { return warnings_; }

  // Puts both lists into the order of the document; what is missing stands
  // where it should have been. Call it once, at the end. `text`: valid JSON.
  void Sort(absl::string_view text);

 private:
  static void Add(std::string path, std::string message,
                  std::vector<ConfigProblem>* problems, size_t* left_out);

  std::vector<ConfigProblem> errors_, warnings_;
  size_t errors_left_out_ = 0, warnings_left_out_ = 0;
};

// OK if there are none, else INVALID_ARGUMENT with all of them:
// "service_config.json: 2 errors: path: message; path: message".
absl::Status StatusOfProblems(absl::string_view source_name,
                              const std::vector<ConfigProblem>& errors);

}  // namespace redial

#endif  // REDIAL_CONFIG_CONFIG_PROBLEM_H_

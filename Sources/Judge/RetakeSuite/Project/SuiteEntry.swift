/// Which sessions run which cases: one line of a suite.
package struct SuiteEntry: Hashable, Sendable {
  /// Names, or globs with `*` and `?`.
  package var sessions: [String]
  package var cases: [String]

  package init(sessions: [String], cases: [String]) {
    self.sessions = sessions
    self.cases = cases
  }
}

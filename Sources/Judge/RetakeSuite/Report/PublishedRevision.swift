import RetakeReplay

/// The branch and the commit of a run that is published.
package struct PublishedRevision: Hashable, Sendable {
  package var branch: String
  package var commit: String?

  /// The variables of CI services; the source branch of a pull request comes first.
  private static let branchNames = [
    "GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "BUILDKITE_BRANCH",
    "CIRCLE_BRANCH",
  ]
  private static let commitNames = [
    "GITHUB_SHA", "CI_COMMIT_SHA", "BUILDKITE_COMMIT", "CIRCLE_SHA1",
  ]

  /// The variables that are read.
  package static var names: [String] { branchNames + commitNames }

  /// Completes the given names from the variables of a CI service, or else from git.
  ///
  /// - Throws: `suite.publish.noBranch`, `RuntimeError.interrupted`.
  package init(
    branch: String?, commit: String?, in project: Project,
    variables: [String: String] = ProcessContext.current.variables
  ) throws {
    func first(_ names: [String]) -> String? {
      names.lazy.compactMap { variables[$0] }.first { !$0.isEmpty }
    }
    let git = Git(folder: project.folder, project.store.isInterrupted)
    func asked(_ words: [String]) -> String? {
      guard let result = try? git.call(["rev-parse"] + words + ["HEAD"], "HEAD"),
        result.status == 0, let name = result.lines.first, name != "HEAD"
      else { return nil }
      return name
    }
    guard let name = branch ?? first(Self.branchNames) ?? asked(["--abbrev-ref"]) else {
      throw SuiteError(
        "suite.publish.noBranch", "the branch of this run is not known", at: project.folder,
        advice: "Name it with --branch NAME")
    }
    self.branch = name
    self.commit = commit ?? first(Self.commitNames) ?? asked([])
  }
}

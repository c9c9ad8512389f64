import RetakeCore
import RetakeReplay

/// The branch and the commit of a run that is published.
package struct PublishedRevision: Hashable, Sendable {
  package var branch: String
  package var commit: String?
  /// Why git does not know the commit.
  package private(set) var note: String?

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
  /// - Parameter time: When the report was made, as an ISO 8601 string. The project may have another
  ///   commit since.
  /// - Throws: `suite.publish.noBranch`, `RuntimeError.interrupted`.
  package init(
    branch: String?, commit: String?, at time: String?, in project: Project,
    variables: [String: String] = ProcessContext.current.variables
  ) throws {
    func first(_ names: [String]) -> String? {
      names.lazy.compactMap { variables[$0] }.first { !$0.isEmpty }
    }
    let checkout = Checkout(git: Git(folder: project.folder, project.store.isInterrupted))
    let known = commit ?? first(Self.commitNames)
    self.commit = try known ?? checkout.commit(at: time)
    guard let name = try branch ?? first(Self.branchNames) ?? checkout.branch(of: self.commit)
    else {
      throw SuiteError(
        "suite.publish.noBranch", "the branch of this run is not known", at: project.folder,
        advice: "Name it with --branch NAME")
    }
    self.branch = name
    if self.commit == nil, try checkout.head() != nil {
      note =
        "the report is older than the commit of this checkout, so it is published without a commit; "
        + "name its commit with --commit"
    }
  }
}

/// The commits of a folder's checkout over time.
private struct Checkout {
  let git: Git

  /// `nil` outside of a repository.
  func head() throws -> String? { try output(["rev-parse", "HEAD"])?.first { isCommit($0) } }

  /// The commit that was checked out at a time; `nil` if git does not know it.
  func commit(at time: String?) throws -> String? {
    guard let head = try head() else { return nil }
    guard let time else { return head }
    // The log of HEAD has each commit and checkout of this clone. A warning on another line means
    // that it begins later.
    if let lines = try output(["rev-parse", "--verify", "HEAD@{\(time)}"]), lines.count == 1,
      isCommit(lines[0])
    {
      return lines[0]
    }
    // A clone that was made after the report, such as by the job that merges shards.
    let newest = try output(["rev-list", "-1", "--before=\(time)", "HEAD"])
    return newest?.first == head ? head : nil
  }

  /// The branch that is checked out, if a commit is part of it.
  func branch(of commit: String?) throws -> String? {
    guard let name = try output(["rev-parse", "--abbrev-ref", "HEAD"])?.first, name != "HEAD" else {
      return nil
    }
    guard let commit, isCommit(commit), try commit != head() else { return name }
    return try output(["merge-base", "--is-ancestor", commit, "HEAD"]).map { _ in name }
  }

  private func isCommit(_ text: String) -> Bool {
    [40, 64].contains(text.utf8.count) && text.allSatisfy(\.isHexDigit)
  }

  /// The lines of a successful call.
  ///
  /// - Throws: `RuntimeError.interrupted`.
  private func output(_ words: [String]) throws -> [String]? {
    do {
      let result = try git.call(words, "HEAD")
      return result.status == 0 ? result.lines : nil
    } catch is SuiteError {
      return nil
    }
  }
}

import RetakeReplay

/// The environment variables of the process that affect every command and every test.
package struct EnvironmentVariables: Hashable, Sendable {
  /// Whether a continuous-integration service runs the process. Retake then writes no file to
  /// Goldens/.
  package var isCI = false
  /// Whether it is a GitHub workflow, whose runner reads annotations from the output.
  package var isGitHub = false
  /// Where pending goldens are written instead of next to the goldens.
  package var pendingFolder: String?

  package init(environment: [String: String] = ProcessContext.current.variables) {
    let value = environment["CI"]?.lowercased() ?? ""
    // CI=0 and CI=false switch it off.
    isCI = !value.isEmpty && value != "0" && value != "false"
    isGitHub = environment["GITHUB_ACTIONS"] == "true"
    pendingFolder = environment["RETAKE_PENDING_DIR"]
  }
}

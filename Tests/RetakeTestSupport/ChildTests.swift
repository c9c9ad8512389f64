import Foundation

/// Runs some of this program's tests again, in a separate process that may fail.
///
/// - Parameters:
///   - arguments: The arguments that SwiftPM would pass to the program, for example `--filter` with
///     Swift Testing, or the name of a test of XCTest.
///   - environment: Changes to this process's environment; `nil` removes a variable.
package func runTests(
  _ arguments: [String], environment: [String: String?] = [:], folder: URL? = nil
) throws -> CommandResult {
  // On Linux the bundle of all tests is the program that is running now.
  try runCommand(
    Bundle.main.executableURL?.path ?? CommandLine.arguments[0], arguments: arguments,
    environment: environment, folder: folder)
}

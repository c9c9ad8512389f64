import Foundation
import Retake
public import Testing

/// A case of a project on one session: an argument of a test, for `expectReplay(_:)`.
///
/// ```swift
/// @Suite(.retake()) struct Replays {
///   @Test(arguments: RetakeCase.all()) func golden(_ replay: RetakeCase) async throws {
///     try await expectReplay(replay)
///   }
/// }
/// ```
public struct RetakeCase: Hashable, Sendable, CustomTestStringConvertible,
  CustomTestArgumentEncodable
{
  enum Content: Hashable, Sendable {
    case run(SelectedCase)
    /// A golden that no case produces any more.
    case stale
    /// Why there are no cases.
    case none(String)
  }

  let content: Content
  /// The project's folder.
  let folder: String
  /// `SESSION/CASE`.
  public let testDescription: String

  /// The cases that `retake test` would run: the cases of a suite of retake.yml. Reads only
  /// retake.yml and the names of sessions, and builds no pipeline.
  ///
  /// If there is no case, or retake.yml cannot be read, the result is one case that fails with the
  /// reason: a test without arguments would pass. Where `CI` is set, a stale golden is a case, too,
  /// and fails.
  ///
  /// - Parameters:
  ///   - sessions: `SESSION`, `SESSION/CASE`, folders, or globs, as for `retake test`; empty for
  ///     all.
  ///   - suite: The suite of retake.yml; `default` if `nil`.
  ///   - project: The folder with retake.yml, as for the trait `retake`.
  ///   - file: The file of the test, above which the project is looked for.
  public static func all(
    _ sessions: String..., suite: String? = nil, project: String = ".", file: String = #filePath
  ) -> [RetakeCase] {
    do {
      let folder = try HostedProject.folder(named: project, near: file)
      var project = try Project(reading: folder)
      project.registry = .builtIn
      return try project.hostedCases(sessions, suite: suite).map { item in
        RetakeCase(
          content: item.selected.map { .run($0) } ?? .stale, folder: folder,
          testDescription: item.key)
      }
    } catch {
      return [
        RetakeCase(content: .none("\(error)"), folder: project, testDescription: "no cases")
      ]
    }
  }

  /// Encodes `SESSION/CASE`, so that a single argument of a test can be run again.
  public func encodeTestArgument(to encoder: some Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(testDescription)
  }
}

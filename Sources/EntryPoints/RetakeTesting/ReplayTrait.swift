import Foundation
public import Retake
public import Testing

/// Provides a project to replay from to the tests of a suite, or to one test. Made by
/// `Trait.retake`.
public struct ReplayTrait: SuiteTrait, TestTrait, TestScoping {
  let project: String
  let program: String
  let stages: StageRegistry
  let pipelines: [Pipeline]
  let file: String

  /// Opens the project, calls the tests, and attaches the report of all their cases.
  ///
  /// - Throws: An error with the remedy if the project is not found or cannot be read.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let hosted = try await onThread { _ in
      try HostedProject(
        HostedProject.folder(named: project, near: file), program: program, stages: stages,
        pipelines: pipelines)
    }
    let scope = ReplayScope(hosted, title: test.displayName ?? test.name)
    defer { scope.finish(at: test.sourceLocation) }
    try await ReplayScope.$current.withValue(scope, operation: function)
  }
}

extension Trait where Self == ReplayTrait {
  /// Provides a project to the tests of a suite: its retake.yml is read once, and all replays share
  /// its cache. After the tests, the speed is printed, and `report.html` and `junit.xml` of all
  /// cases are attached to the suite.
  ///
  /// - Parameters:
  ///   - project: The folder with retake.yml. A relative path begins at the nearest folder above
  ///     the test's file where there is one.
  ///   - program: The command that messages show instead of `retake`; with custom stages, your
  ///     program.
  ///   - stages: Registers custom stages, which the project's pipelines can name.
  ///   - pipelines: Pipelines in Swift, which retake.yml names `example:NAME`.
  ///   - file: The file of the test, above which the project is looked for.
  public static func retake(
    project: String = ".", program: String = "retake",
    stages: (inout StageRegistry) -> Void = { _ in }, pipelines: [Pipeline] = [],
    file: String = #filePath
  ) -> Self {
    var registry = StageRegistry.builtIn
    stages(&registry)
    return ReplayTrait(
      project: project, program: program, stages: registry, pipelines: pipelines, file: file)
  }
}

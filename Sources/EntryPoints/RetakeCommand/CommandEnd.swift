import ArgumentParser
import Foundation
import Retake

/// Ends a command that has already printed all of its output.
struct CommandEnd: Error {
  var status: ExitStatus

  /// The exit status of a command's work. Errors are printed.
  ///
  /// - Throws: Any error that is neither a `CommandEnd` nor has a code.
  static func status(of work: () throws -> Void) throws -> ExitStatus {
    do {
      try work()
      return .passed
    } catch let end as CommandEnd {
      return end.status
    } catch let error as any CodedError {
      return report(error)
    } catch let error as StageError {
      // From a user's source that cannot be opened.
      return report(ErrorFacts(ofUser: error))
    }
  }

  /// The work of a command that a CI service starts again after a failure of the machine.
  ///
  /// - Throws: The status 75 for a disk that failed; other errors of the work.
  static func orInfrastructure(_ work: () throws -> Void) throws {
    do {
      try work()
    } catch let error as any CodedError where Infrastructure.isCause(of: error) {
      Console.error(error)
      throw CommandEnd(status: Interruption.isRequested ? .interrupted : .infrastructure)
    }
  }

  private static func report(_ error: any CodedError) -> ExitStatus {
    Console.error(error)
    if let way = Self.wayToProject(after: error) { Console.note("  \(visible(way))") }
    return ErrorStatus.of(error)
  }

  /// Something was not found that a retake.yml may define, and that file is in a folder above.
  private static func wayToProject(after error: any CodedError) -> String? {
    guard missing.contains(error.code) else { return nil }
    return (try? CommandEnvironment.current.project())?.wayToProject
  }

  private static let missing = [
    "session.list.noFolder", "suite.accept.nothingPending", "suite.accept.notPending",
    "suite.adopt.noGolden", "suite.project.none", "suite.select.noCase",
    "suite.select.noPipeline", "suite.select.noSession", "suite.select.noSuite",
    "suite.select.nothing", "suite.stale.noGolden",
  ]
}

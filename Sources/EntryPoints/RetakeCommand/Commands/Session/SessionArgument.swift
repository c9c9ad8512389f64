import ArgumentParser
import Foundation
import Retake

/// A session by name in the project's Recordings, or by path.
struct SessionArgument: ParsableArguments {
  @Argument(help: "A session: its name in Recordings, or its folder.")
  var session: String

  func path(in project: Project) throws -> String { try project.sessionPath(session) }

  /// For commands that change the session.
  func ownPath(in project: Project) throws -> String { try project.ownSessionPath(session) }
}

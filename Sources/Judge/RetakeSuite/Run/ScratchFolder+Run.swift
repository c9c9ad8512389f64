import Foundation
package import RetakeGolden

extension ScratchFolder {
  /// A folder for the files that a run needs for a while. The files of a process that was killed
  /// are removed by the next process.
  ///
  /// - Throws: `SuiteError.notWritable`.
  package static func ofRun() throws -> ScratchFolder {
    do {
      return try .temporary()
    } catch let error as GoldenError {
      throw SuiteError.notWritable(
        path: FileManager.default.temporaryDirectory.path, cause: error.cause ?? error.message)
    }
  }
}

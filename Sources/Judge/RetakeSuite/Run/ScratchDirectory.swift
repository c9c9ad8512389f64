package import Foundation
import RetakeGolden

/// A temporary folder. The files of a process that was killed are removed by the next process.
package struct ScratchDirectory {
  private let scratch: ScratchFolder

  package init() throws {
    do {
      scratch = try .temporary()
    } catch let error as GoldenError {
      throw SuiteError.notWritable(
        path: FileManager.default.temporaryDirectory.path, cause: error.cause ?? error.message)
    }
  }

  package var url: URL { scratch.url }

  package func remove() { scratch.remove() }
}

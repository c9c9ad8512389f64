import Foundation
import RetakeGolden

/// A temporary folder. The files of a process that was killed are removed by the next process.
struct ScratchDirectory {
  private let scratch: ScratchFolder

  init() throws(SuiteError) {
    do throws(GoldenError) {
      scratch = try .temporary()
    } catch {
      throw .notWritable(
        path: FileManager.default.temporaryDirectory.path, cause: error.cause ?? error.message)
    }
  }

  var url: URL { scratch.url }

  func remove() { scratch.remove() }
}

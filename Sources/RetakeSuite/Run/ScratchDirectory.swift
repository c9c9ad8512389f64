import Foundation
import RetakeGolden

/// A folder for files that nobody needs afterwards. What a process that was killed left of them goes
/// with the next one.
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

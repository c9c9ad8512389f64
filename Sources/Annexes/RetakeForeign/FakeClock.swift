import Foundation
import RetakeCore

/// The clock of a program that does not know of virtual time: libfaketime, which is loaded into the
/// program, reads the time from a file whenever the program asks for it.
///
/// Sleeping and waiting with a limit are not virtual: the time only moves between two calls.
final class FakeClock {
  /// 2020-01-01 00:00 UTC: the program's time when virtual time is 0.
  static let originNanoseconds: Int64 = 1_577_836_800_000_000_000

  private let folder: URL
  private let library: String

  /// - Parameter name: The name of its folder; another name for each start.
  /// - Throws: `ForeignError.noFakeClock`, `ForeignError.notStarted`.
  init(_ program: ForeignProgram, name: String) throws {
    guard let library = Self.library() else { throw ForeignError.noFakeClock(program.name) }
    self.library = library
    folder = Self.root.appending(path: "retake-clock-\(name)")
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try write(0)
    } catch {
      throw ForeignError.notStarted(program.name, cause: "its clock cannot be written: \(error)")
    }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// In a memory file system if there is one: a disk needs milliseconds for each new time.
  private static var root: URL {
    let memory = "/dev/shm"
    return FileManager.default.isWritableFile(atPath: memory)
      ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory
  }

  private var file: URL { folder.appending(path: "now") }

  /// The variables to add to the environment of the program.
  func environment(_ own: [String: String]) -> [String: String] {
    [
      "LD_PRELOAD": [library, own["LD_PRELOAD"]].compactMap(\.self).joined(separator: ":"),
      "FAKETIME_TIMESTAMP_FILE": file.path, "FAKETIME_NO_CACHE": "1", "FAKETIME_FMT": "%s",
    ]
  }

  /// From now on the program's clocks show this virtual time.
  func set(_ nanoseconds: Int64) throws(ForeignFailure) {
    do { try write(nanoseconds) } catch { throw .noClock(error.causeText) }
  }

  private func write(_ nanoseconds: Int64) throws {
    let time = Self.time(nanoseconds)
    let (seconds, fraction) = (time / 1_000_000_000, String(time % 1_000_000_000))
    let text = "\(seconds)." + String(repeating: "0", count: 9 - fraction.count) + fraction
    let next = folder.appending(path: "next")
    try Data(text.utf8).write(to: next)
    // Renamed into place, so that the program never reads a part of it.
    guard rename(next.path, file.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }

  private static func time(_ nanoseconds: Int64) -> Int64 {
    let (sum, isOver) = originNanoseconds.addingReportingOverflow(nanoseconds)
    return isOver ? Int64.max : max(0, sum)
  }

  /// Where the packages of Linux distributions put it.
  static func library(under root: String = "/usr/lib") -> String? {
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: root))?.sorted() ?? []
    let places = ["\(root)/faketime"] + folders.map { "\(root)/\($0)/faketime" }
    return places.map { "\($0)/libfaketime.so.1" }
      .first { FileManager.default.fileExists(atPath: $0) }
  }
}

import Foundation

/// A file that is read front to back.
struct InputFile {
  /// Why it cannot be read, in words.
  struct Failure: Error {
    var cause: String
  }

  private let handle: FileHandle

  init(_ path: String) throws(Failure) {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw Failure(cause: "there is no such file")
    }
    guard !isFolder.boolValue else { throw Failure(cause: "it is a folder") }
    guard let handle = FileHandle(forReadingAtPath: path) else {
      throw Failure(cause: String(cString: strerror(errno)))
    }
    self.handle = handle
  }

  /// The next bytes, at most so many; empty at the end.
  func read(upTo count: Int) throws(Failure) -> [UInt8] {
    do {
      return [UInt8](try handle.read(upToCount: count) ?? Data())
    } catch {
      throw Failure(cause: error.localizedDescription)
    }
  }

  func close() { try? handle.close() }
}

import Foundation
import RetakeCore
import RetakeStore

/// A media file that is missing, or whose size alone shows that it is not the file that was stored.
struct MediaSizeFault: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case missing
    /// A pointer of Git LFS or git-annex in its place.
    case pointer
    case shorter
    case longer
    /// The system does not let this user read it.
    case unreadable
  }

  var kind: Kind
  /// Relative to the folder of the session.
  var file: String
  /// Its size; 0 if it is missing.
  var bytes: Int64
  /// Its size at the last commit.
  var indexedBytes: Int64

  /// Names the file.
  var text: String {
    switch kind {
    case .missing: "\(file) is missing"
    case .unreadable: "\(file) cannot be read: no permission"
    case .pointer: "\(file) is a pointer to a large file, which is not here"
    case .shorter: "\(file) has \(bytes) bytes of \(indexedBytes)"
    case .longer:
      "\(file) is not the file that was stored: it has \(bytes) bytes, not \(indexedBytes)"
    }
  }

  /// The faults of a session's media files, in the order of their names. No file is read.
  static func all(of sizes: [String: MediaSize], in folder: SessionFolder) -> [MediaSizeFault] {
    sizes.keys.sorted().compactMap { name in
      guard let size = sizes[name], let path = try? folder.file(name) else { return nil }
      let found = Result { try RegularFile.facts(of: path, links: .followed).bytes }
      guard let kind = kind(of: path, found, size) else { return nil }
      return MediaSizeFault(
        kind: kind, file: name, bytes: (try? found.get()) ?? 0, indexedBytes: size.bytes)
    }
  }

  /// - Parameter path: Of the file.
  func error(at path: String) -> any RetakeError {
    switch kind {
    case .missing: SessionError.mediaMissing(file: path)
    case .pointer: SessionError.pointer(file: path)
    case .unreadable: StoreError(.system(EACCES), path: path)
    case .shorter, .longer:
      SessionError.mediaSize(file: path, bytes: bytes, indexedBytes: indexedBytes)
    }
  }

  static func kind(
    of path: String, _ found: Result<Int64, any Error>, _ size: MediaSize
  ) -> Kind? {
    let bytes: Int64
    switch found {
    case .failure(RegularFile.Refusal.system(EACCES)): return .unreadable
    case .failure: return .missing
    case .success(let found): bytes = found
    }
    // Only a file of a pointer's size is read.
    if bytes < LargeFilePointer.bytesMax, LargeFilePointer(file: path) != nil { return .pointer }
    if bytes < size.bytes { return .shorter }
    // The recorder may have written after its last commit.
    return bytes > size.bytes && size.isComplete ? .longer : nil
  }
}

import Foundation
import RetakeCore
import RetakeSession

/// The folder of one session in the local cache. Its user holds the lock that the operation needs.
struct CachedSession {
  let folder: String
  let pointer: SessionPointer

  var path: String { "\(folder)/\(pointer.name)" }
  /// The objects that were fetched, until all of them are here.
  var staging: String { "\(folder)/.staging" }
  private var made: String { "\(folder)/.made" }
  /// The facts of the files when their digests were checked.
  private var checked: String { "\(folder)/.checked" }
  private static let checkedBytesMax: Int64 = 8 << 20

  /// Whether the folder has exactly the files whose digests were checked, and no file changed since.
  var isWhole: Bool {
    guard let data = try? RegularFile.contents(checked, bytesMax: Self.checkedBytesMax),
      let names = try? FileManager.default.subpathsOfDirectory(atPath: path),
      Set(names).subtracting(["media"]) == Set(pointer.files.map(\.path))
    else { return false }
    return (try? stamps(in: path)) == String(decoding: data, as: UTF8.self)
  }

  /// Size, time and number of each file, as one text.
  private func stamps(in folder: String) throws -> String {
    try pointer.files.map { file in
      let facts = try RegularFile.facts(of: "\(folder)/\(file.path)")
      return "\(file.object.sha256) \(file.path) \(facts.bytes) \(facts.modifiedNanoseconds) "
        + "\(facts.device) \(facts.number)\n"
    }.joined()
  }

  /// The bytes of the session's files that are on this disk already, checked or not.
  var bytesHere: Int64 {
    var seen: Set<StoredObject> = []
    return pointer.files.reduce(0) { sum, file in
      guard seen.insert(file.object).inserted else { return sum }
      let places = ["\(path)/\(file.path)", "\(staging)/\(file.object.sha256)"]
      let sizes = places.compactMap { (try? RegularFile.facts(of: $0))?.bytes }
      return sum + min(file.object.bytes, sizes.max() ?? 0)
    }
  }

  /// Refuses links in place of its folders. They may come with a repository, and files elsewhere
  /// would be moved and removed.
  ///
  /// - Throws: `SuiteError.notWritable`.
  func requireFolders() throws {
    for place in [folder, staging, path, path + "/media"]
    where (try? FileManager.default.destinationOfSymbolicLink(atPath: place)) != nil {
      throw SuiteError.notWritable(path: place, cause: "it is a symbolic link")
    }
  }

  /// Moves the files of a session that cannot be used as it is to the objects that are checked again.
  func stage() throws {
    let files = FileManager.default
    try files.createDirectory(atPath: staging, withIntermediateDirectories: true)
    // Parts of objects, and links in their places.
    for name in try files.contentsOfDirectory(atPath: staging) where !StoredObject.isDigest(name) {
      try files.removeItem(atPath: "\(staging)/\(name)")
    }
    for file in pointer.files {
      rename("\(path)/\(file.path)", "\(staging)/\(file.object.sha256)")
    }
    for rest in [path, made, checked] where RegularFile.isTaken(rest) {
      try files.removeItem(atPath: rest)
    }
  }

  /// Makes the session's folder from the checked objects.
  func assemble() throws {
    let files = FileManager.default
    try files.createDirectory(atPath: made + "/media", withIntermediateDirectories: true)
    var placed: [StoredObject: String] = [:]
    for file in pointer.files {
      let target = "\(made)/\(file.path)"
      if let twin = placed.updateValue(target, forKey: file.object) {
        try files.copyItem(atPath: twin, toPath: target)
      } else {
        try files.moveItem(atPath: "\(staging)/\(file.object.sha256)", toPath: target)
      }
      // Durable before it counts as checked: after a loss of power it could have other bytes.
      let handle = try FileHandle(forUpdating: URL(fileURLWithPath: target))
      try handle.synchronize()
      try handle.close()
    }
    let stamps = try stamps(in: made)
    try files.moveItem(atPath: made, toPath: path)
    try Data(stamps.utf8).write(to: URL(fileURLWithPath: checked), options: .atomic)
    try files.removeItem(atPath: staging)
  }
}

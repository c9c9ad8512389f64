import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGolden
import RetakeReplay
import RetakeRuntime

/// A store in a bucket or another place that rclone reaches. Its access comes from environment
/// variables, or from the user's own configuration of rclone.
struct RcloneStore: ObjectStore {
  /// A batch of files is sent by one process, so that progress shows and small files are quick.
  private static let batchBytes: Int64 = 256 << 20
  /// Ends an rclone that hangs for good: it gives up on a connection long before.
  private static let secondsMax = 7 * 86_400.0

  /// In rclone's notation: `:s3:bucket/path`.
  let remote: String
  let isInterrupted: () -> Bool

  private var objects: String { "\(remote)/\(FolderStore.objects)" }

  /// Compares the remote's own hashes, or sizes alone on a remote without hashes.
  func present(
    _ files: [(object: StoredObject, path: String)], report: (Int64) -> Void
  ) throws -> Set<StoredObject> {
    let scratch = try ScratchFolder.temporary()
    defer { scratch.remove() }
    for (object, path) in files { try link(object, path, in: scratch) }
    let lines = try run(
      ["check", "--copy-links", "--one-way", "--combined", "-", scratch.url.path, objects],
      // It ends with 1 after a difference and after an error alike.
      isEnough: { lines in Self.compared(lines, files.map(\.object)).count == files.count })
    let compared = Self.compared(lines, files.map(\.object))
    report(files.reduce(0) { $0 + $1.object.bytes })
    return Set(files.map(\.object).filter { compared[$0.path] == "=" })
  }

  /// The signs of `rclone check` by path: `=` for an equal file, `+` for a missing one, `*` for
  /// another content.
  private static func compared(
    _ lines: [String], _ objects: [StoredObject]
  ) -> [String: Substring] {
    let paths = Set(objects.map(\.path))
    var signs: [String: Substring] = [:]
    for line in lines {
      let parts = line.split(separator: " ")
      guard parts.count == 2, ["=", "+", "*"].contains(parts[0]), paths.contains(String(parts[1]))
      else { continue }
      signs[String(parts[1])] = parts[0]
    }
    return signs
  }

  /// Makes a link with the name that the file has in the store.
  private func link(_ object: StoredObject, _ path: String, in scratch: ScratchFolder) throws {
    let link = scratch.file(object.path)
    try FileManager.default.createDirectory(
      at: link.deletingLastPathComponent(), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: path)
  }

  func send(_ files: [(object: StoredObject, path: String)], report: (Int64) -> Void) throws {
    var rest = files[...]
    while !rest.isEmpty {
      let scratch = try ScratchFolder.temporary()
      defer { scratch.remove() }
      var (batch, bytes): ([(object: StoredObject, path: String)], Int64) = ([], 0)
      while let (object, path) = rest.first, batch.isEmpty || bytes < Self.batchBytes {
        rest.removeFirst()
        try link(object, path, in: scratch)
        batch.append((object, path))
        bytes += object.bytes
      }
      // Present with another size or hash: it was cut off or damaged. `--ignore-times` sends it
      // again.
      try run(["copy", "--copy-links", "--ignore-times", scratch.url.path, objects])
      for (object, path) in batch { try requireUnchanged(object, path) }
      report(bytes)
    }
  }

  /// A file that changed after it was digested is an object with another digest than its name, and
  /// the next push would find it there.
  private func requireUnchanged(_ object: StoredObject, _ path: String) throws {
    guard try StoredObject(digesting: path, isInterrupted: isInterrupted) != object else { return }
    try run(["deletefile", "\(objects)/\(object.path)"])
    throw SuiteError.changedFile(path)
  }

  func fetch(_ objects: [StoredObject], into folder: String, report: (Int64) -> Void) throws {
    let bytes = objects.reduce(0) { $0 + $1.bytes }
    // An object may be larger than its pointer says: more than this is not fetched.
    let limit = ["--max-transfer", "\(bytes + (1 << 20))B", "--cutoff-mode", "hard"]
    // Also after an error: objects that arrived are not fetched again.
    defer { for object in objects { place(object, in: folder, report) } }
    _ = try withList(of: objects) { list in
      try run(["copy", "--ignore-times", "--files-from-raw", list, self.objects, folder] + limit)
    }
  }

  /// Moves an object out of the folder that it has in the store, unless it is missing.
  private func place(_ object: StoredObject, in folder: String, _ report: (Int64) -> Void) {
    if rename("\(folder)/\(object.path)", "\(folder)/\(object.sha256)") == 0 {
      report(object.bytes)
    }
    rmdir("\(folder)/\(object.sha256.prefix(2))")
  }

  func digests(of objects: [StoredObject]) throws -> [StoredObject: String] {
    // Computed here, from the bytes of the objects.
    let found = try listing(["hashsum", "sha256", "--download"], objects)
    return Dictionary(
      uniqueKeysWithValues: objects.compactMap { object in
        found[object.path].map { (object, $0) }
      })
  }

  /// The first word of each line that rclone prints, by the path after it.
  private func listing(_ words: [String], _ objects: [StoredObject]) throws -> [String: String] {
    let lines = try withList(of: objects) { list in
      try run(words + ["--files-from-raw", list, self.objects])
    }
    var result: [String: String] = [:]
    for line in lines {
      let parts = line.split(separator: " ")
      if parts.count == 2 { result[String(parts[1])] = String(parts[0]) }
    }
    return result
  }

  private func withList<Result>(
    of objects: [StoredObject], _ body: (String) throws -> Result
  ) throws -> Result {
    let scratch = try ScratchFolder.temporary()
    defer { scratch.remove() }
    let list = scratch.file("list")
    try Data(objects.map { $0.path + "\n" }.joined().utf8).write(to: list)
    return try body(list.path)
  }

  /// Runs rclone and returns the lines of its output.
  ///
  /// - Parameter isEnough: Whether lines are a complete output although rclone ended with 1.
  /// - Throws: `SuiteError.noRclone`, `SuiteError.rclone`, `RuntimeError.interrupted`.
  @discardableResult
  private func run(
    _ words: [String], isEnough: ([String]) -> Bool = { _ in false }
  ) throws -> [String] {
    let output = Locked(Data())
    let process = BoundedProcess(
      executable: "/usr/bin/env", arguments: ["rclone", "--log-level", "ERROR"] + words,
      environment: Self.environment(of: ProcessContext.current.variables),
      secondsMax: Self.secondsMax, isInterrupted: isInterrupted,
      onOutput: { bytes in output.withLock { $0 += bytes } })
    let result: BoundedProcess.Result
    do {
      result = try process.run()
    } catch {
      throw SuiteError.rclone(remote, cause: error.systemText)
    }
    let lines = String(decoding: output.withLock { $0 }, as: UTF8.self)
      .split(whereSeparator: \.isNewline).map(String.init)
    switch result.end {
    case .exited(0): return lines
    case .exited(1) where isEnough(lines): return lines
    case .exited(127): throw SuiteError.noRclone
    // The store has no folder `objects` yet.
    case .exited(3): return []
    case .exited: throw SuiteError.rclone(remote, cause: result.closingResponse)
    case .interrupted: throw RuntimeError.interrupted
    case .stopped: throw SuiteError.rclone(remote, cause: "it did not end")
    case .signalled(let number):
      throw SuiteError.rclone(remote, cause: "signal \(number) ended it")
    }
  }

  /// Defaults for buckets, each of which a variable of the user replaces.
  static func environment(of given: [String: String]) -> [String: String] {
    // The variable of Amazon's own tools for another server of the same protocol.
    let endpoint = given["AWS_ENDPOINT_URL_S3"] ?? given["AWS_ENDPOINT_URL"]
    var variables = [
      "RCLONE_S3_ENV_AUTH": "true",
      "RCLONE_S3_PROVIDER": endpoint == nil ? "AWS" : "Other",
      // To ask for the bucket, or to make it, needs rights that a reader lacks.
      "RCLONE_S3_NO_CHECK_BUCKET": "true",
      "RCLONE_GCS_ENV_AUTH": "true",
      "RCLONE_GCS_BUCKET_POLICY_ONLY": "true",
    ]
    variables["RCLONE_S3_ENDPOINT"] = endpoint
    // With Amazon's own variable rclone's client of S3 refuses to start.
    variables["RCLONE_CA_CERT"] = given["AWS_CA_BUNDLE"]
    variables.merge(given) { $1 }
    variables["AWS_CA_BUNDLE"] = nil
    return variables
  }
}

package import Foundation
package import RetakeCore

/// A folder with the files of one golden: accepted, pending next to it (`*.new`), or of a run.
package struct GoldenFolder: Hashable, Sendable {
  package enum Form: Hashable, Sendable {
    /// Plain names: an accepted golden, or the folder of a run.
    case accepted
    /// Names that end in `.new`.
    case pending
  }

  /// The folder of an acceptance in progress; ignored by git, like everything that ends in `.new`.
  static let acceptingName = ".accepting.new"
  /// Its file that marks all the others as complete.
  static let commitName = "COMMIT"
  package static let manifestName = "golden.yml"
  static let decisionsName = "decisions.gold"
  /// The pipeline's document; older goldens do not have one.
  package static let pipelineName = "pipeline.json"
  static let alternatePrefix = "alternate-"

  package let url: URL
  package let form: Form

  package init(_ url: URL, form: Form = .accepted) {
    self.url = url
    self.form = form
  }

  /// The folder of a case among the goldens: `Goldens/SESSION/CASE`.
  package init(root: URL, session: String, testCase: String) {
    self.init(
      root.appending(path: session, directoryHint: .isDirectory)
        .appending(path: testCase, directoryHint: .isDirectory))
  }

  /// The pending golden of the same folder.
  package var pending: GoldenFolder { GoldenFolder(url, form: .pending) }

  /// The golden that replaces this one on one platform, for values that may differ there.
  package func alternate(_ platform: String) -> GoldenFolder {
    GoldenFolder(
      url.appending(path: Self.alternatePrefix + platform, directoryHint: .isDirectory))
  }

  /// The alternate for a platform if it exists, else this golden.
  package func fitting(_ platform: String) -> GoldenFolder {
    let alternate = alternate(platform)
    return alternate.exists ? alternate : self
  }

  /// For an alternate, the golden of all other platforms.
  var overall: GoldenFolder? {
    guard url.lastPathComponent.hasPrefix(Self.alternatePrefix) else { return nil }
    return GoldenFolder(url.deletingLastPathComponent())
  }

  /// All alternates, sorted by platform.
  package func alternates() -> [GoldenFolder] {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
    return entries.sorted().filter { $0.hasPrefix(Self.alternatePrefix) }
      .map { alternate(String($0.dropFirst(Self.alternatePrefix.count))) }
  }

  /// Whether the golden exists. Without golden.yml it does not.
  package var exists: Bool {
    FileManager.default.fileExists(atPath: file(Self.manifestName).path)
  }

  /// The location of a file of this golden. After an acceptance that was interrupted when it was
  /// already complete, that is in the folder of the acceptance.
  package func file(_ name: String) -> URL {
    // A pending result is never in the accepting folder: the files there are a golden already.
    form == .pending ? url.appending(path: name + ".new") : base.appending(path: name)
  }

  private var base: URL {
    let accepting = url.appending(path: Self.acceptingName)
    let commit = accepting.appending(path: Self.commitName)
    return FileManager.default.fileExists(atPath: commit.path) ? accepting : url
  }

  /// The names of this golden's files, without `.new`, in order.
  func fileNames() -> [String] {
    let folder = form == .pending ? url : base
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    let names = entries.compactMap { entry -> String? in
      guard form == .pending else { return entry }
      return entry.hasSuffix(".new") ? String(entry.dropLast(4)) : nil
    }
    return names.filter(Self.isGoldenFile).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Whether a file belongs to a golden; a person's notes next to it do not.
  package static func isGoldenFile(_ name: String) -> Bool {
    if [manifestName, decisionsName, pipelineName].contains(name) { return true }
    if name.hasPrefix("results-") || name.hasPrefix("digests-") { return name.hasSuffix(".gold") }
    if name.hasPrefix("picture-") { return name.hasSuffix(".png") }
    if name.hasPrefix("image-") { return name.hasSuffix(".png") || name.hasSuffix(".npy") }
    return name.hasPrefix("environment-") && name.hasSuffix(".yml")
  }

  /// The image that a sink received: `picture-0-000120-preview.png`.
  package static func pictureName(_ frame: FrameID, sink: String) -> String {
    "picture-\(place(frame, sink: sink)).png"
  }

  /// An image among the observations of a frame and sink: `image-0-000120-depth-0.npy`.
  ///
  /// - Parameter index: Counts these images from 0.
  package static func imageName(
    _ frame: FrameID, sink: String, index: Int, isPicture: Bool
  ) -> String {
    "image-\(place(frame, sink: sink))-\(index).\(isPicture ? "png" : "npy")"
  }

  /// The names of all images of a frame and sink that may be kept.
  static func imageNames(_ frame: FrameID, sink: String, _ lines: [ResultLine]) -> [String] {
    let images = lines.compactMap { line -> PixelArray? in
      guard case .observation(let item) = line, case .image(let array) = item.content else {
        return nil
      }
      return array
    }
    let hasPicture = lines.contains { if case .picture = $0 { true } else { false } }
    return (hasPicture ? [pictureName(frame, sink: sink)] : [])
      + images.enumerated().map { index, image in
        imageName(frame, sink: sink, index: index, isPicture: image.isPicture)
      }
  }

  private static func place(_ frame: FrameID, sink: String) -> String {
    let digits = String(frame.sequence)
    let padded = String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    // Nodes inside of a forEach have a `/` in their ids, which a file's name cannot have.
    return "\(frame.track)-\(padded)-\(sink.replacing("/", with: "-"))"
  }

  static func digestsName(_ platform: String) -> String { "digests-\(platform).gold" }
  static func environmentName(_ platform: String) -> String { "environment-\(platform).yml" }

  /// Reads golden.yml.
  ///
  /// - Throws: `GoldenError.missing` if it does not exist, `manifest` and `version` if it is
  ///   invalid.
  package func manifest() throws -> GoldenManifest {
    guard exists else { throw GoldenError.missing(folder: url.path) }
    let file = file(Self.manifestName)
    let data = try contents(of: file, bytesMax: Int64(YAMLOutline.bytesMax))
    return try GoldenManifest(parsing: String(decoding: data, as: UTF8.self), file: file.path)
  }

  /// The number of results files of a golden with a given number of frames.
  static func chunkCount(frames: Int) -> Int {
    // A golden without frames still has one file, with the header alone.
    max(1, (frames + ResultHeader.chunkSize - 1) / ResultHeader.chunkSize)
  }

  /// Reads and checks a results file.
  ///
  /// - Throws: `GoldenError.fileMissing`, `results`.
  package func chunk(_ index: Int) throws -> ResultChunk {
    let url = file(ResultChunkText.name(index))
    return try Self.chunk([UInt8](contents(of: url)), url)
  }

  static func chunk(_ bytes: [UInt8], _ url: URL) throws -> ResultChunk {
    do {
      return try ResultChunk(bytes, file: url.path)
    } catch let error as ResultTextError {
      throw GoldenError.results(error)
    }
  }

  /// The results of some frames, with the header that describes them. Frames that do not exist are
  /// omitted.
  ///
  /// - Throws: As `manifest()` and `chunk(_:)`.
  package func frames(
    _ ids: Set<FrameID>
  ) throws -> (header: ResultHeader?, frames: [FrameID: ResultFrame]) {
    var found: [FrameID: ResultFrame] = [:]
    var header: ResultHeader?
    for index in 0..<Self.chunkCount(frames: try manifest().summary.captured) {
      let chunk = try chunk(index)
      header = header ?? chunk.header
      // Parsing is the slow part, so it ends with the last requested frame.
      for block in chunk.blocks where found.count < ids.count {
        for frame in try frames(of: block, chunk) where ids.contains(frame.id) {
          found[frame.id] = frame
        }
      }
      if found.count == ids.count { break }
    }
    return (header, found)
  }

  func frames(
    of block: ResultChunk.Block, _ chunk: ResultChunk
  ) throws -> [ResultFrame] {
    do {
      return try chunk.frames(of: block)
    } catch let error as ResultTextError {
      throw GoldenError.results(error)
    }
  }

  /// The content of the environment file, by name; empty without one.
  package func environment(_ platform: String) -> [String: String] {
    // A damaged file counts as empty: versions are information for reports and change no verdict.
    guard
      let data = try? contents(
        of: file(Self.environmentName(platform)), bytesMax: Int64(YAMLOutline.bytesMax)),
      case .object(let members)? = try? JSONValue(yaml: String(decoding: data, as: UTF8.self))
    else { return [:] }
    // Versions such as `7` or `6.1` are numbers in YAML if a person wrote them without quotes.
    return members.compactMapValues { value in
      switch value {
      case .string(let text): text
      case .integer(let number): String(number)
      case .number(let number): JSONValue.number(number).canonicalText
      case .bool(let flag): String(flag)
      default: nil
      }
    }
  }
}

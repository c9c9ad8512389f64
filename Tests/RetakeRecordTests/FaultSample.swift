import Foundation
import RetakeCore
import RetakeSession
import RetakeStore
import RetakeTestSupport

@testable import RetakeRecord

/// A small session into which faults are put, and its correct content.
struct FaultSample {
  let name: String
  let path: String
  let truth: Truth
  /// Media, database and log, relative to the folder.
  let files: [String]
  /// Kept so that the folder is not removed.
  private let folder: TemporaryFolder

  init(_ name: String, at path: String, in folder: TemporaryFolder) throws {
    (self.name, self.path, self.folder) = (name, path, folder)
    truth = try Truth(path)
    files = try FileManager.default.subpathsOfDirectory(atPath: path).sorted().filter {
      $0.hasPrefix("media/") || $0.hasPrefix("session.sqlite")
    }
  }

  /// Recorded and closed; recorded and killed, with a log; imported with B-frames.
  static func all() throws -> [FaultSample] {
    let crash = try CrashImages(Scene(60))
    let killed = crash.images[crash.images.count - 1].path
    let folder = try TemporaryFolder()
    let clip = folder.file("clip.mp4").path
    let made = try runFFmpeg(
      arguments: [
        "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=30",
        "-frames:v", "60", "-c:v", "libx264", "-g", "12", "-bf", "2", "-pix_fmt", "yuv420p", clip,
      ])
    guard made.status == 0 else { throw FaultSampleFailed(message: made.stderr) }
    let imported = try SessionImporter(
      ImportOptions(file: clip, name: "imported", into: folder.url.path)
    ).run()
    return [
      try FaultSample("closed", at: crash.whole.folder.path, in: crash.folder),
      try FaultSample("killed", at: killed, in: crash.folder),
      try FaultSample("imported", at: imported.folder.path, in: folder),
    ]
  }

  /// A copy with one file changed.
  func copy(to path: String, changing file: String, _ change: (inout Data) -> Void) throws {
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.copyItem(atPath: self.path, toPath: path)
    let url = URL(filePath: path + "/" + file)
    var bytes = try Data(contentsOf: url)
    change(&bytes)
    try bytes.write(to: url)
  }

  func byteCount(of file: String) throws -> Int {
    try Data(contentsOf: URL(filePath: path + "/" + file)).count
  }
}

struct FaultSampleFailed: Error {
  var message: String
}

/// Every row of a session, and the pixels of every frame.
struct Truth: Equatable {
  var rows: Rows
  /// By sequence; `nil` if the frame cannot be read.
  var pixels: [Digest128?]
  /// The doctor's findings for the undamaged session: that it was never closed.
  var codes: Set<String>

  struct Rows: Equatable {
    var segments: [SegmentRecord]
    var parts: [SegmentTrackRecord]
    var packets: [PacketRecord]
    var frames: [FrameRecord]
    var events: [EventRecord]
    var files: [FileRecord]
    var facts: [String?]
    var commit: StoreWriter.Commit

    init(_ path: String) throws {
      let store = try StoreReader(opening: path + "/session.sqlite")
      segments = try store.segments()
      parts = try store.segmentTracks()
      packets = try store.packets(track: 0, indexes: 0..<10_000)
      frames = try store.frames(track: 0, sequences: 0..<10_000)
      events = try store.events()
      files = try store.files()
      facts = try ["kind", "source", "status", "losses", "closed", "preset", "pace", "libraries"]
        .map { try store.meta($0) }
      commit = try store.lastCommit()
    }
  }

  init(_ path: String) throws {
    rows = try Rows(path)
    pixels = Self.pixels(path, count: rows.frames.count)
    codes = Set(try SessionCheck(path: path, decodes: true).run().findings.map(\.code))
  }

  /// Each frame by itself, as it is decoded now.
  static func pixels(_ path: String, count: Int) -> [Digest128?] {
    guard let reader = try? SessionReader(opening: path) else {
      return [Digest128?](repeating: nil, count: count)
    }
    return (0..<count).map {
      try? reader.frame(FrameID(track: 0, sequence: $0)).pixelDigest
    }
  }
}

/// The doctor's result for a session with a fault, and its readable rows and pixels.
struct FaultVerdict {
  let diagnosis: SessionDiagnosis
  let rows: Truth.Rows?
  let pixels: [Digest128?]
  private let truth: Truth

  init(_ path: String, _ truth: Truth) throws {
    self.truth = truth
    diagnosis = try SessionCheck(path: path, decodes: true).run()
    rows = try? Truth.Rows(path)
    pixels = Truth.pixels(path, count: truth.pixels.count)
  }

  /// No row, no packet and no pixel is different.
  var isHarmless: Bool {
    rows == truth.rows && pixels == truth.pixels && !diagnosis.findings.contains { $0.isOfMedia }
  }

  /// A finding that does not concern the session in general names a file, a row, a packet or a
  /// frame.
  var isNamed: Bool {
    diagnosis.findings.contains {
      !truth.codes.contains($0.code)
        && ($0.severity != .note || $0.code == "session.check.tail")
        && ($0.file != nil || $0.table != nil || $0.frame != nil)
    }
  }

  /// Frames that the doctor names as lost.
  var lostFrames: Set<Int> {
    var lost: Set<Int> = []
    for finding in diagnosis.findings {
      guard let first = finding.frame else { continue }
      lost.formUnion(first.sequence...(finding.lastFrame ?? first).sequence)
    }
    return lost
  }

  /// Frames that have changed without a finding of the doctor.
  var silentlyWrong: [Int] {
    guard diagnosis.status != nil else { return [] }
    let lost = lostFrames
    return truth.pixels.indices.filter { sequence in
      guard let found = pixels[sequence], found != truth.pixels[sequence] else { return false }
      return !lost.contains(sequence)
    }
  }
}

extension SessionFinding {
  fileprivate var isOfMedia: Bool {
    ["packet", "media", "frame", "pixels", "short"].contains {
      code == "session.check.\($0)"
    }
  }
}

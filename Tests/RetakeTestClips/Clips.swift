import Foundation
import RetakeCore
import RetakeSession
import RetakeTestSupport
import Synchronization
import Testing

/// A clip that the tests create with the ffmpeg command.
package struct Clip: Sendable, CustomTestStringConvertible {
  package var name: String
  /// Including its extension.
  package var file: String
  package var inputs: [String]
  package var output: [String]
  /// Some frame cannot be decoded from the key frame before it.
  package var hasOpenEntries = false
  /// Encoded in two passes, so that the encoder can plan ahead.
  package var isTwoPass = false
  /// A change of the file afterwards.
  package var change: (@Sendable (Data) -> Data)?

  package var testDescription: String { name }

  package init(
    name: String, file: String, inputs: [String], output: [String], hasOpenEntries: Bool = false,
    isTwoPass: Bool = false, change: (@Sendable (Data) -> Data)? = nil
  ) {
    (self.name, self.file, self.inputs, self.output) = (name, file, inputs, output)
    (self.hasOpenEntries, self.isTwoPass, self.change) = (hasOpenEntries, isTwoPass, change)
  }

  private static func source(_ kind: String, size: String = "96x64", frames: Int = 60) -> [String] {
    ["-f", "lavfi", "-i", "\(kind)=size=\(size):rate=30", "-frames:v", "\(frames)"]
  }

  package static let openGOP = Clip(
    name: "open-GOP H.264", file: "open.mp4", inputs: source("testsrc2", frames: 120),
    output: [
      "-c:v", "libx264", "-g", "12", "-bf", "3", "-x264-params", "open-gop=1:scenecut=0:b-adapt=0",
      "-pix_fmt", "yuv420p",
    ], hasOpenEntries: true)

  package static let mpeg2 = Clip(
    name: "MPEG-2 with B-frames", file: "mpeg2.mkv", inputs: source("testsrc2", frames: 90),
    output: ["-c:v", "mpeg2video", "-bf", "2", "-g", "15", "-q:v", "5"], hasOpenEntries: true)

  package static let intraRefresh = Clip(
    name: "intra refresh", file: "refresh.mp4", inputs: source("testsrc2", frames: 120),
    output: [
      "-c:v", "libx264", "-x264-params", "intra-refresh=1:keyint=24:scenecut=0", "-bf", "0",
      "-pix_fmt", "yuv420p",
    ], hasOpenEntries: true)

  package static let transport = Clip(
    name: "MPEG-TS", file: "stream.ts", inputs: source("testsrc2"),
    output: ["-c:v", "libx264", "-g", "10", "-bf", "2", "-pix_fmt", "yuv420p"])

  package static let variableRate = Clip(
    name: "variable frame rate", file: "variable.mp4", inputs: source("testsrc2"),
    output: [
      "-vf", "select='not(mod(n,3))+not(mod(n,7))'", "-fps_mode", "vfr", "-c:v", "libx264",
      "-pix_fmt", "yuv420p",
    ])

  package static let lateStart = Clip(
    name: "non-zero start", file: "late.mkv", inputs: source("testsrc2", frames: 20),
    output: ["-output_ts_offset", "3.5", "-c:v", "mpeg4"])

  package static let motionJPEG = Clip(
    name: "Motion JPEG in AVI", file: "intra.avi", inputs: source("testsrc2", size: "97x63"),
    output: ["-c:v", "mjpeg", "-q:v", "4"])

  package static let packed = Clip(
    name: "MPEG-4 with B-frames in AVI", file: "packed.avi", inputs: source("testsrc2"),
    output: ["-c:v", "mpeg4", "-bf", "2", "-g", "12"])

  package static let oddSize = Clip(
    name: "odd size", file: "odd.mkv", inputs: source("testsrc2", size: "65x49", frames: 20),
    output: ["-c:v", "ffv1", "-pix_fmt", "yuv420p"])

  package static let elementary = Clip(
    name: "raw H.264 without times", file: "raw.h264", inputs: source("testsrc2", frames: 40),
    output: ["-c:v", "libx264", "-g", "10", "-bf", "2", "-pix_fmt", "yuv420p"])

  package static let twoTracks = Clip(
    name: "two video tracks and audio", file: "two.mp4",
    inputs: [
      "-f", "lavfi", "-i", "sine=duration=1", "-f", "lavfi", "-i",
      "testsrc2=size=96x64:rate=30:duration=1", "-f", "lavfi", "-i",
      "testsrc=size=64x48:rate=25:duration=1",
    ],
    output: [
      "-map", "0:a", "-map", "1:v", "-map", "2:v", "-c:v", "libx264", "-pix_fmt", "yuv420p",
      "-c:a", "aac",
    ])

  package static let vp9 = Clip(
    name: "VP9 with hidden frames", file: "vp9.webm", inputs: source("testsrc2"),
    output: [
      "-c:v", "libvpx-vp9", "-b:v", "200k", "-g", "20", "-auto-alt-ref", "1", "-lag-in-frames",
      "16", "-deadline", "realtime", "-cpu-used", "8",
    ])

  /// Images that are decoded long before they are shown, and shown by packets of one byte.
  package static let layeredVP9 = Clip(
    name: "VP9 with layers of hidden frames", file: "layers.webm", inputs: source("testsrc2"),
    output: [
      "-c:v", "libvpx-vp9", "-b:v", "200k", "-g", "128", "-auto-alt-ref", "4", "-lag-in-frames",
      "25", "-cpu-used", "5",
    ], isTwoPass: true)

  /// Images that are shown again: up to three times in a row, and long after they were decoded.
  package static let shownAgain = Clip(
    name: "VP9 with frames that are shown again", file: "again.ivf",
    inputs: source("testsrc2", frames: 150),
    output: [
      "-c:v", "libvpx-vp9", "-b:v", "200k", "-g", "200", "-auto-alt-ref", "0", "-deadline",
      "realtime", "-cpu-used", "8",
    ], change: { VideoPackets(ivf: $0).showingAgain().ivf })

  package static let svtAV1 = Clip(
    name: "AV1 with layers of hidden frames", file: "svt.mp4", inputs: source("testsrc2"),
    output: ["-c:v", "libsvtav1", "-preset", "10", "-g", "30", "-svtav1-params", "lp=1"])

  package static let av1 = Clip(
    name: "AV1", file: "av1.mkv", inputs: source("testsrc2", frames: 40),
    output: ["-c:v", "libaom-av1", "-cpu-used", "8", "-g", "15", "-b:v", "150k"])

  package static let hevc = Clip(
    name: "HEVC with leading pictures", file: "hevc.mp4", inputs: source("testsrc2", frames: 90),
    output: [
      "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
      "keyint=15:min-keyint=15:bframes=3:open-gop=1:log-level=none:pools=1", "-pix_fmt",
      "yuv420p",
    ])

  package static let interlaced = Clip(
    name: "interlaced MPEG-2 program stream", file: "fields.mpg",
    inputs: source("testsrc2", size: "96x96"),
    output: ["-c:v", "mpeg2video", "-flags", "+ildct+ilme", "-bf", "2", "-g", "12"])

  package static let fragmented = Clip(
    name: "fragmented MP4", file: "fragments.mp4", inputs: source("testsrc2"),
    output: [
      "-c:v", "libx264", "-g", "15", "-pix_fmt", "yuv420p", "-movflags",
      "+frag_keyframe+empty_moov",
    ])

  package static let paletted = Clip(
    name: "RGB in AVI", file: "rgb.avi", inputs: source("testsrc2", frames: 20),
    output: ["-c:v", "png", "-pix_fmt", "rgb24"])

  package static let all = [
    vp9, layeredVP9, shownAgain, av1, svtAV1, hevc, interlaced, fragmented, paletted,
    openGOP, mpeg2, intraRefresh, transport, variableRate, lateStart, motionJPEG, packed, oddSize,
    elementary, twoTracks,
  ]

  /// Creates the clip in a folder.
  package func make(in folder: TemporaryFolder) throws -> URL {
    let url = folder.file(file)
    let passes = isTwoPass ? [1, 2] : [0]
    for pass in passes {
      let plan = ["-pass", "\(pass)", "-passlogfile", folder.file("pass").path]
      let result = try runFFmpeg(
        arguments: ["-v", "error", "-nostdin", "-y"] + inputs + ["-threads", "1"] + output
          + (pass == 0 ? [] : plan) + (pass == 1 ? ["-f", "null", "-"] : [url.path]))
      guard result.status == 0 else { throw ClipFailed(message: result.stderr) }
    }
    if let change { try change(try Data(contentsOf: url)).write(to: url) }
    return url
  }
}

/// The packets of an IVF file.
package struct VideoPackets {
  private var header: Data
  package var packets: [Data] = []

  package init(ivf file: Data) {
    let file = Data(file)
    header = file.prefix(32)
    var place = 32
    while place + 12 <= file.count {
      let size = (0..<4).reduce(0) { $0 | Int(file[place + $1]) << (8 * $1) }
      packets.append(file[(place + 12)..<(place + 12 + size)])
      place += 12 + size
    }
  }

  /// After some packets, packets of one byte that show the content of one of the decoder's eight
  /// slots.
  package func showingAgain() -> VideoPackets {
    var numbers = SeededGenerator(seed: 3)
    var result = self
    result.packets = []
    for (place, packet) in packets.enumerated() {
      result.packets.append(packet)
      guard place > 2, Int.random(in: 0..<5, using: &numbers) < 2 else { continue }
      for _ in 0..<Int.random(in: 1...3, using: &numbers) {
        // Frame marker 2, profile 0, show_existing_frame, the slot.
        result.packets.append(Data([0x88 | UInt8.random(in: 0..<8, using: &numbers)]))
      }
    }
    return result
  }

  package var ivf: Data {
    var file = header
    file.replaceSubrange(24..<28, with: Self.bytes(packets.count, 4))
    for (place, packet) in packets.enumerated() {
      file += Self.bytes(packet.count, 4) + Self.bytes(place, 8) + packet
    }
    return file
  }

  private static func bytes(_ value: Int, _ count: Int) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
  }
}

package struct ClipFailed: Error {
  package var message: String

  package init(message: String) { self.message = message }
}

/// A session made from a clip, in a separate folder.
///
/// The tests of a process import a clip once: each gets a copy of the file and of the session.
package struct ImportedClip {
  private struct Key: Hashable {
    var file: String
    var arguments: [[String]]
    var tracks: [Int]
  }

  private static let imported = Mutex<[Key: ImportedClip]>([:])

  package let folder: TemporaryFolder
  package let source: URL
  package let result: ImportResult

  package init(_ clip: Clip, tracks: [Int] = []) throws {
    guard clip.change == nil else {
      try self.init(importing: clip, tracks: tracks)
      return
    }
    let key = Key(
      file: clip.file, arguments: [clip.inputs, clip.output, ["\(clip.isTwoPass)"]], tracks: tracks)
    // Two tests that come at once both import it.
    if let first = Self.imported.withLock({ $0[key] }) {
      try self.init(copying: first)
      return
    }
    let first = try Self(importing: clip, tracks: tracks)
    Self.imported.withLock { $0[key] = first }
    try self.init(copying: first)
  }

  private init(importing clip: Clip, tracks: [Int]) throws {
    folder = try TemporaryFolder()
    source = try clip.make(in: folder)
    result = try SessionImporter(
      ImportOptions(
        file: source.path, name: "clip", into: folder.file("Recordings").path, tracks: tracks)
    ).run()
  }

  private init(copying first: ImportedClip) throws {
    folder = try TemporaryFolder()
    source = folder.file(first.source.lastPathComponent)
    for url in [first.source, first.folder.file("Recordings")] {
      try FileManager.default.copyItem(at: url, to: folder.file(url.lastPathComponent))
    }
    var result = first.result
    result.folder = SessionFolder(path: folder.file("Recordings/clip").path)
    self.result = result
  }

  package var path: String { result.folder.path }

  package func reader(_ options: ReadOptions = ReadOptions(verifiesPixels: true)) throws
    -> SessionReader
  {
    try SessionReader(opening: path, options: options)
  }
}

/// The error's code, or `nil` if the body throws no error.
package func code(_ body: () throws -> some Any) -> String? {
  do {
    _ = try body()
    return nil
  } catch {
    return (error as? any CodedError)?.code ?? "\(error)"
  }
}

/// All paths of a folder with their bytes, links with their targets.
package func contents(of path: String) throws -> [String: Data] {
  let manager = FileManager.default
  var result: [String: Data] = [:]
  for name in try manager.subpathsOfDirectory(atPath: path) {
    let file = path + "/" + name
    var isFolder: ObjCBool = false
    _ = manager.fileExists(atPath: file, isDirectory: &isFolder)
    result[name] = isFolder.boolValue ? Data() : try Data(contentsOf: URL(filePath: file))
  }
  return result
}

import Foundation
import RetakeStore
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeSession

/// Damage that no flag of a decoder shows, judged by FFmpeg's own decoding of the undamaged file.
struct StreamEvidenceTests {
  struct Encoding: Sendable, CustomTestStringConvertible {
    var file: String
    var options: [String]
    /// Numbers of packets; each packet is removed in a separate file.
    var lost = [10]
    /// After the filter that removes a packet.
    var filter = ""
    var testDescription: String { "\(file) \(options.joined(separator: " "))" }
  }

  static let predicted: [Encoding] = [
    Encoding(file: "a.mp4", options: x264 + ["-bf", "0"]),
    Encoding(file: "a.flv", options: x264 + ["-bf", "0", "-refs", "1"]),
    Encoding(file: "a.ts", options: x264 + ["-bf", "2"], lost: [7, 10]),
    Encoding(file: "a.mkv", options: x264, lost: [9, 10, 11]),
    Encoding(
      file: "a.mkv", options: x264 + ["-x264-params", "open-gop=1:scenecut=0"], lost: [8, 24]),
    Encoding(
      file: "a.mkv", options: x264 + ["-bf", "0", "-x264-params", "intra-refresh=1:keyint=24"]),
    Encoding(file: "a.mp4", options: x265("bframes=0"), lost: [1, 10]),
    Encoding(file: "a.mkv", options: x265("bframes=4"), lost: [9, 10, 11, 12]),
    Encoding(file: "a.ts", options: x265("bframes=2:open-gop=1"), lost: [10, 24]),
    Encoding(file: "a.mkv", options: ["-c:v", "mpeg2video", "-g", "24"], lost: [1, 10]),
    Encoding(
      file: "a.mkv", options: ["-c:v", "mpeg2video", "-g", "24", "-bf", "2"], lost: [9, 10, 11]),
    Encoding(
      file: "a.mkv", options: ["-c:v", "mpeg1video", "-g", "24", "-threads", "2"], lost: [10]),
    Encoding(file: "a.mp4", options: ["-c:v", "mpeg4", "-g", "24"], lost: [3, 10]),
    Encoding(file: "a.avi", options: ["-c:v", "mpeg4", "-g", "24"]),
    Encoding(
      file: "a.mp4",
      options: ["-c:v", "libaom-av1", "-g", "24", "-cpu-used", "8", "-usage", "realtime"]),
    Encoding(
      file: "a.mkv",
      options: ["-c:v", "libsvtav1", "-preset", "10", "-g", "24", "-svtav1-params", "lp=1"],
      lost: [4, 9, 25, 29, 33]),
  ]

  private static let x264 = ["-c:v", "libx264", "-g", "24", "-sc_threshold", "0"]

  /// Without the checksums of clusters, so that only the stream shows damage.
  private static let unchecked = ["-write_crc32", "0"]

  private static func x265(_ parameters: String) -> [String] {
    [
      "-c:v", "libx265", "-x265-params",
      "log-level=none:keyint=24:min-keyint=24:scenecut=0:\(parameters)",
    ]
  }

  private func ffmpeg(_ arguments: [String]) throws -> String {
    let result = try runFFmpeg(arguments: ["-v", "error", "-nostdin", "-y"] + arguments)
    guard result.status == 0 else { throw ClipFailed(message: result.stderr) }
    return result.stdout
  }

  private func clip(_ encoding: Encoding, in folder: TemporaryFolder) throws -> String {
    let path = folder.file("whole-" + encoding.file).path
    let source = ["-f", "lavfi", "-i", "testsrc2=size=128x96:rate=25", "-frames:v", "60"]
    _ = try ffmpeg(
      source + ["-threads", "1"] + encoding.options + [
        "-pix_fmt", "yuv420p", "-muxdelay", "0", path,
      ])
    return path
  }

  /// Digests of FFmpeg's pictures, by their times in milliseconds.
  private func pictures(of path: String) throws -> [Int: String] {
    let lines = try ffmpeg(
      [
        "-threads", "1", "-i", path, "-fps_mode", "passthrough", "-copyts", "-enc_time_base",
        "1:1000", "-f", "framemd5", "-",
      ])
    var found: [Int: String] = [:]
    for line in lines.split(separator: "\n") where !line.hasPrefix("#") {
      let fields = line.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      found[try #require(Int(fields[2]))] = fields[5]
    }
    return found
  }

  private func imported(_ path: String, into folder: TemporaryFolder, as name: String) throws
    -> ImportResult
  {
    try SessionImporter(
      ImportOptions(file: path, name: name, into: folder.file("Recordings").path)
    ).run()
  }

  @Test(arguments: predicted)
  func `each frame that a lost picture made wrong is named`(_ encoding: Encoding) throws {
    let folder = try TemporaryFolder()
    let whole = try clip(encoding, in: folder)
    let good = try pictures(of: whole)
    let undamaged = try imported(whole, into: folder, as: "whole")
    #expect(undamaged.status == .clean && undamaged.tracks[0].damaged == 0)
    for lost in encoding.lost {
      let path = folder.file("lost\(lost)-" + encoding.file).path
      _ = try ffmpeg(
        [
          "-i", whole, "-c", "copy", "-muxdelay", "0", "-copyts", "-bsf:v",
          "noise=drop=eq(n\\,\(lost))", path,
        ])
      let wrong = Set(try pictures(of: path).filter { good[$0.key] != $0.value }.keys)
      let result = try imported(path, into: folder, as: "lost\(lost)")
      let reader = try SessionReader(opening: result.folder.path)
      let rows = try reader.index.store.frames(track: 0, sequences: 0..<60)
      let named = rows.filter { $0.cause != nil }.map {
        Int(($0.ptsNanoseconds + 500_000) / 1_000_000)
      }
      let missed = wrong.subtracting(named)
      #expect(missed.isEmpty, "packet \(lost): \(missed.sorted()) of \(wrong.sorted())")
      #expect((result.status == .lossy) == !named.isEmpty)
      let isByTimes = encoding.options.contains("mpeg4")
      #expect(result.notes.contains { $0.contains("by the times in the stream") } == isByTimes)
    }
  }

  /// Decoders of these codecs return images of pictures whose references were never there.
  static let openings: [Encoding] = [
    Encoding(file: "a.avi", options: ["-c:v", "mpeg4", "-g", "24"]),
    Encoding(file: "a.mkv", options: ["-c:v", "mpeg4", "-g", "24", "-bf", "2"]),
    Encoding(file: "a.ts", options: ["-c:v", "mpeg4", "-g", "24"]),
    Encoding(file: "a.avi", options: ["-c:v", "h263", "-g", "24"]),
    Encoding(file: "a.mkv", options: ["-c:v", "h263p", "-g", "24"]),
    Encoding(file: "a.flv", options: ["-c:v", "flv1", "-g", "24"]),
    Encoding(file: "a.avi", options: ["-c:v", "msmpeg4v2", "-g", "24"]),
    Encoding(file: "a.avi", options: ["-c:v", "msmpeg4", "-g", "24"]),
    Encoding(file: "a.wmv", options: ["-c:v", "wmv1", "-g", "24"]),
    Encoding(file: "a.wmv", options: ["-c:v", "wmv2", "-g", "24"]),
    Encoding(file: "a.avi", options: ["-c:v", "msvideo1", "-g", "24"]),
    // Each packet has the header of the sequence, with which a decoder begins.
    Encoding(file: "a.mkv", options: ["-c:v", "mpeg1video", "-g", "24"], filter: headers),
    Encoding(
      file: "a.mkv", options: ["-c:v", "mpeg2video", "-g", "24", "-bf", "2"], filter: headers),
  ]
  private static let headers = ",dump_extra=freq=all"

  @Test(arguments: openings)
  func `frames before the first key frame of a piece are named`(_ encoding: Encoding) throws {
    let folder = try TemporaryFolder()
    let whole = try clip(encoding, in: folder)
    let good = Set(try pictures(of: whole).values)
    let undamaged = try imported(whole, into: folder, as: "whole")
    #expect(undamaged.status == .clean && undamaged.tracks[0].damaged == 0)
    let path = folder.file("piece-" + encoding.file).path
    _ = try ffmpeg([
      "-i", whole, "-c", "copy", "-muxdelay", "0", "-copyts", "-bsf:v",
      "noise=drop=eq(n\\,0)" + encoding.filter, path,
    ])
    let wrong = try pictures(of: path).filter { !good.contains($0.value) }.keys
    let result = try imported(path, into: folder, as: "piece")
    let reader = try SessionReader(opening: result.folder.path)
    let rows = try reader.index.store.frames(track: 0, sequences: 0..<60)
    let named = rows.filter { $0.cause != nil }
    let times = named.map { Int(($0.ptsNanoseconds + 500_000) / 1_000_000) }
    #expect(!wrong.isEmpty && Set(wrong).isSubset(of: times))
    #expect(named.map(\.sequence) == Array(0..<named.count) && named.count <= 26)
    #expect(named.allSatisfy { $0.cause == "media.reference.missing" })
    #expect(result.status == .lossy)
    #expect(
      result.notes.contains {
        $0.hasSuffix("refer to a picture that is not in the stream (media.reference.missing)")
      })
    #expect(try SessionCheck(path: result.folder.path, decodes: true).run().isHealthy)
  }

  /// The rate seems to be constant at first, and then every fifth picture is not there.
  @Test func `a variable rate is no damage`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("vfr.mp4").path
    _ = try ffmpeg([
      "-f", "lavfi", "-i", "testsrc2=size=128x96:rate=25", "-frames:v", "80", "-vf",
      "select='not(gt(n,30)*eq(mod(n,5),0))'", "-fps_mode", "vfr", "-c:v", "mpeg4", path,
    ])
    let result = try imported(path, into: folder, as: "vfr")
    #expect(result.status == .clean && result.tracks[0].damaged == 0)
  }

  /// Each packet has a key picture that is shown later, and their count begins again.
  @Test func `equal packets that need no other are no damage`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("red.mkv").path
    _ = try ffmpeg([
      "-f", "lavfi", "-i", "color=c=red:size=128x96:rate=25", "-frames:v", "20", "-c:v",
      "libaom-av1", "-cpu-used", "8", "-g", "1", "-lag-in-frames", "19", "-b:v", "200k",
      "-aom-params", "enable-keyframe-filtering=2", path,
    ])
    let result = try imported(path, into: folder, as: "red")
    #expect(result.status == .clean && result.tracks[0].damaged == 0)
  }

  @Test func `a lost picture that nothing refers to is no damage`() throws {
    let folder = try TemporaryFolder()
    let options = Self.x264 + ["-bf", "1", "-b_strategy", "0", "-x264-params", "b-pyramid=none"]
    let whole = try clip(Encoding(file: "a.mkv", options: options), in: folder)
    let path = folder.file("dropped.mkv").path
    // Key picture, then pairs of a picture and another that is shown before it.
    _ = try ffmpeg(["-i", whole, "-c", "copy", "-bsf:v", "noise=drop=eq(n\\,10)", path])
    let result = try imported(path, into: folder, as: "dropped")
    #expect(result.status == .clean && result.tracks[0].frames == 59)
  }

  /// Imports a file, and a copy in which a byte in the middle of a packet is another one.
  private func flipped(
    packet number: Int, of whole: String, in folder: TemporaryFolder
  ) throws -> (result: ImportResult, rows: [FrameRecord]) {
    let indexed = try imported(whole, into: folder, as: "whole")
    #expect(indexed.status == .clean && indexed.notes.isEmpty)
    let packet = try #require(
      try SessionReader(opening: indexed.folder.path).index.packet(track: 0, index: number))
    var bytes = try Data(contentsOf: URL(filePath: whole))
    bytes[Int(try #require(packet.offset)) + packet.size / 2] ^= 0x55
    let path = folder.file("flipped.mkv").path
    try bytes.write(to: URL(filePath: path))
    let result = try imported(path, into: folder, as: "flipped")
    let reader = try SessionReader(opening: result.folder.path)
    return (result, try reader.index.store.frames(track: 0, sequences: 0..<60))
  }

  /// FFmpeg's decoder does not compare the other kinds of picture hashes, CRC (2) and sums (3).
  @Test func `pictures that differ from their MD5 in HEVC are named, up to the next key frame`()
    throws
  {
    let folder = try TemporaryFolder()
    let options = Self.x265("bframes=0:open-gop=0:hash=1")
    let whole = try clip(Encoding(file: "a.mkv", options: options + Self.unchecked), in: folder)
    let (result, rows) = try flipped(packet: 30, of: whole, in: folder)
    let good = try pictures(of: whole)
    let wrong = try pictures(of: folder.file("flipped.mkv").path).filter {
      good[$0.key] != $0.value
    }
    #expect(wrong.count == 18)
    #expect(rows.filter { $0.cause == "media.decode.reported" }.map(\.sequence) == Array(30..<48))
    #expect(rows.filter { $0.cause != nil }.count == 18 && result.status == .lossy)
    #expect(
      result.notes == [
        "frames 0:30 to 0:47 (18) are damaged, as the decoder reports (media.decode.reported)"
      ])
  }

  @Test func `damage of pictures before an open key picture does not reach those after it`() throws
  {
    let folder = try TemporaryFolder()
    let options = Self.x265("bframes=4:open-gop=1:hash=1")
    let whole = try clip(Encoding(file: "a.mkv", options: options + Self.unchecked), in: folder)
    let (_, rows) = try flipped(packet: 40, of: whole, in: folder)
    let good = try pictures(of: whole)
    let wrong = try pictures(of: folder.file("flipped.mkv").path).filter {
      good[$0.key] != $0.value
    }
    let named = rows.filter { $0.cause != nil }
    #expect(Set(wrong.keys).isSubset(of: named.map { Int($0.ptsNanoseconds / 1_000_000) }))
    // The key picture is 48; the pictures before it refer to it and to damaged pictures.
    #expect(named.contains { $0.sequence == 47 } && named.allSatisfy { $0.sequence < 48 })
  }

  @Test func `a frame whose checksum the decoder refutes is named, with the decoder's reason`()
    throws
  {
    let folder = try TemporaryFolder()
    let options = ["-c:v", "ffv1", "-level", "3", "-slicecrc", "1", "-slices", "4", "-g", "1"]
    let whole = try clip(Encoding(file: "a.mkv", options: options + Self.unchecked), in: folder)
    let (result, rows) = try flipped(packet: 40, of: whole, in: folder)
    #expect(rows.filter { $0.cause != nil }.map(\.sequence) == [40])
    #expect(rows[40].cause == "media.decode.reported" && result.status == .lossy)
    #expect(result.notes.contains { $0.contains("frame 0:40 ") })
  }
}

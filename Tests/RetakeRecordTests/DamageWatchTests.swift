import Foundation
import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeTestSupport
import Testing

@testable import RetakeRecord

/// A recording names the damage of its source as an import of the same file does.
struct DamageWatchTests {
  private func ffmpeg(_ arguments: [String]) throws {
    let result = try runFFmpeg(arguments: ["-v", "error", "-nostdin"] + arguments)
    try #require(result.status == 0, "\(result.stderr)")
  }

  /// A clip of which packet 10 of 60 is missing.
  private func lossyClip(_ folder: TemporaryFolder, _ options: [String]) throws -> String {
    let (whole, lost) = (folder.file("whole.mkv").path, folder.file("lost.mkv").path)
    let source = ["-f", "lavfi", "-i", "testsrc2=size=128x96:rate=25", "-frames:v", "60"]
    try ffmpeg(source + ["-threads", "1"] + options + ["-pix_fmt", "yuv420p", whole])
    try ffmpeg(["-i", whole, "-c", "copy", "-bsf:v", "noise=drop=eq(n\\,10)", lost])
    return lost
  }

  static let codecs: [[String]] = [
    ["-c:v", "libx264", "-bf", "0", "-g", "24", "-sc_threshold", "0"],
    [
      "-c:v", "libx265", "-x265-params",
      "log-level=none:keyint=24:min-keyint=24:scenecut=0:bframes=0",
    ],
    ["-c:v", "mpeg4", "-g", "24"],
  ]

  @Test(arguments: codecs, [RecordingPreset.copy, .ffv1])
  func `a recording has the causes and the status of an import`(
    options: [String], preset: RecordingPreset
  ) throws {
    let folder = try TemporaryFolder("retake-watch")
    let path = try lossyClip(folder, options)
    let imported = try SessionImporter(
      ImportOptions(file: path, name: "imported", into: folder.file("Imported").path)
    ).run()
    let recorded = try Recorder(
      try MediaFileSource(path: path), options: .test(folder, preset: preset), machine: .still()
    ).run()
    let wanted = try StoredFrames(imported.folder.path).all.map(\.cause)
    #expect(try StoredFrames(recorded.folder.path).all.map(\.cause) == wanted)
    #expect(wanted.compactMap(\.self).count == 13 && recorded.status == .lossy)
    #expect(wanted[10...22].allSatisfy { $0 == "media.reference.missing" })
  }

  @Test func `a live packet behind one that is called corrupt may be the damaged one`() throws {
    let stream = MediaStream(index: 0, kind: .video, codec: "vp9", timeBase: TimeBase(1, 1_000))
    var watch = DamageWatch(stream)
    for index in 0..<9 {
      watch.add(
        try MediaPacket(
          index: index, pts: Int64(index), dts: nil, flags: index == 5 ? .corrupt : [],
          bytes: [1]))
    }
    let causes = (0..<9).map { watch.lateCause(ofPacket: $0) }
    #expect(causes.indices.filter { causes[$0] == "media.packet.corrupt" } == [5, 6])
  }
}

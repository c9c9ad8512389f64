import Foundation
import RetakeSession
import RetakeTestSupport
import Testing

@testable import RetakeRewrite

/// No copy drops the opacity of VP9 in silence.
@Suite struct OpacityTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder("retake-opacity") }

  private func session(_ format: String) throws -> String {
    let path = folder.file("\(format).webm").path
    let made = try runFFmpeg(
      arguments: [
        "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25:duration=1",
        "-vf", "format=\(format)", "-c:v", "libvpx-vp9", "-auto-alt-ref", "0", "-deadline",
        "realtime", "-cpu-used", "8", path,
      ])
    try #require(made.status == 0, "\(made.stderr)")
    return try SessionImporter(
      ImportOptions(file: path, into: folder.file("Recordings").path)
    ).run().folder.path
  }

  private func target(_ name: String) -> SessionTarget {
    SessionTarget(into: folder.file("Copies").path, name: name)
  }

  @Test func `a replay copy says that it has no opacity`() throws {
    let session = try session("yuva420p")
    let result = try SessionTranscode(of: session, .init(target: target("a"), isForced: true)).run()
    #expect(result.lacksOpacity == true)
    #expect(result.notes.contains { $0.hasPrefix("the copy has no opacity") }, "\(result.notes)")
    let opaque = try SessionTranscode(
      of: try self.session("yuv420p"), .init(target: target("b"), isForced: true)
    ).run()
    #expect(opaque.lacksOpacity == nil && !opaque.notes.contains { $0.contains("opacity") })
  }

  @Test func `a trim says that there is opacity, and where it is lost`() throws {
    let session = try session("yuva420p")
    let result = try SessionTrim(
      of: session, .init(from: .milliseconds(200), to: nil, target: target("t"))
    ).run()
    #expect(result.notes.contains { $0.contains("opacity, which is not decoded") })
    #expect(
      result.encodedFrames == 0 || result.notes.contains { $0.contains("have no opacity") },
      "\(result.notes)")
  }

  @Test func `an export keeps opacity in Matroska, and says so where it is lost`() throws {
    let session = try session("yuva420p")
    let export = SessionExport(of: session)
    let mp4 = try export.media(to: folder.file("e.mp4").path)
    #expect(mp4.map(\.lacksOpacity) == [true])
    let mkv = try export.media(to: folder.file("e.mkv").path)
    #expect(mkv.map(\.lacksOpacity) == [false])
    let decoded = try runFFmpeg(
      arguments: [
        "-v", "error", "-c:v", "libvpx-vp9", "-i", folder.file("e.mkv").path, "-frames:v", "1",
        "-f", "rawvideo", "-",
      ])
    let tags = try runCommand(
      "ffprobe",
      arguments: [
        "-v", "error", "-show_entries", "stream_tags=alpha_mode", "-of", "csv=p=0",
        folder.file("e.mkv").path,
      ])
    #expect(tags.stdout.hasPrefix("1"))
    // Four planes: Y, U, V and A.
    #expect(decoded.stdoutBytes.count == 96 * 64 * 5 / 2)
  }
}

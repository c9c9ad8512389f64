import Foundation
import RetakeCore
import RetakeMedia
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeSession

struct RoundTripTests {
  /// The frames decoded by FFmpeg's own command, as hashes of its framehash muxer.
  private func framehash(_ file: URL, stream: Int) throws -> [String] {
    let result = try runFFmpeg(
      arguments: [
        "-v", "error", "-nostdin", "-noautorotate", "-flags", "bitexact", "-idct", "simple", "-i",
        file.path, "-map", "0:\(stream)", "-fps_mode", "passthrough", "-f", "framehash", "-",
      ])
    return result.stdout.split(separator: "\n").filter { !$0.hasPrefix("#") }
      .compactMap { $0.split(separator: ",").last?.trimmingCharacters(in: .whitespaces) }
  }

  /// Decoded in order, each frame is the same as FFmpeg's; random frames, decoded alone, are the
  /// same too.
  private func check(_ source: URL, session path: String, alone most: Int = 200) throws -> Int {
    var count = 0
    for track in try SessionReader(opening: path).tracks {
      let ordered = try SessionReader(
        opening: path, options: ReadOptions(verifiesPixels: true, framesPerChain: nil))
      var digests: [Digest128] = []
      var hashes: [String] = []
      for sequence in 0..<track.frameCount {
        let frame = try ordered.frame(FrameID(track: track.track, sequence: sequence))
        #expect(frame.id.sequence == sequence)
        digests.append(frame.pixelDigest)
        hashes.append(frame.frameHash)
      }
      #expect(try hashes == framehash(source, stream: track.track))

      let alone = try SessionReader(
        opening: path, options: ReadOptions(verifiesPixels: true, poisonsMemory: true))
      var numbers = SeededGenerator(seed: 7)
      for _ in 0..<min(most, 3 * track.frameCount) {
        let sequence = Int.random(in: 0..<track.frameCount, using: &numbers)
        let frame = try alone.frame(FrameID(track: track.track, sequence: sequence))
        #expect(frame.pixelDigest == digests[sequence], "frame \(sequence)")
      }
      count += track.frameCount
    }
    return count
  }

  @Test(arguments: Clip.all)
  func `a clip reads back as ffmpeg decodes it in any order`(clip: Clip) throws {
    let imported = try ImportedClip(clip)

    let count = try check(imported.source, session: imported.path)

    #expect(count >= 20)
    #expect(imported.result.status == .clean)
    let reader = try imported.reader()
    let kept = try Data(contentsOf: URL(filePath: imported.path + "/" + reader.mediaFiles()[0]))
    #expect(try kept == Data(contentsOf: imported.source))
    // Each audio track is a sensor, which the doctor names.
    let findings = try SessionCheck(path: imported.path).run().findings
    let sound = imported.result.sensors.filter { $0.kind == "sound" }
    #expect(findings.map(\.code) == sound.map { _ in "session.check.sensor" }, "\(findings)")
    #expect(sound.count == (clip.name == Clip.twoTracks.name ? 1 : 0))
  }

  @Test func `what an edit list hides is decoded and not shown`() throws {
    let folder = try TemporaryFolder()
    let whole = try Clip.openGOP.make(in: folder)
    let cut = folder.file("cut.mp4")
    _ = try runFFmpeg(
      arguments: ["-v", "error", "-ss", "0.7", "-i", whole.path, "-c", "copy", cut.path])

    let result = try SessionImporter(
      ImportOptions(file: cut.path, into: folder.file("Recordings").path)
    ).run()

    let index = try SessionReader(opening: result.folder.path).index
    let packets = try index.store.packets(track: 0, indexes: 0..<200)
    let hidden = packets.filter { $0.flags.contains(.discard) }.count
    #expect(hidden > 1)
    #expect(
      result.notes.contains(
        "track 0: \(hidden) packets are decoded and not shown, as the container says (an edit list)"
      ))
    #expect(try check(cut, session: result.folder.path) < packets.count)
  }

  @Test(arguments: [Clip.openGOP, .mpeg2, .intraRefresh])
  func `an entry goes back where the nearest key does not give the frame`(clip: Clip) throws {
    let imported = try ImportedClip(clip)
    let index = try imported.reader().index
    let count = try imported.reader().tracks[0].frameCount
    var back = 0
    for sequence in 0..<count {
      let frame = try #require(try index.frame(FrameID(track: 0, sequence: sequence)))
      let packet = try #require(frame.packet)
      let entry = try #require(frame.entry)
      let key = try index.store.keyPacket(track: 0, atOrBefore: packet)
      #expect(entry <= key)
      #expect(try index.packet(track: 0, index: entry)?.flags.contains(.key) == true)
      if entry < key { back += 1 }
    }
    #expect(back > 0)
  }

  @Test(
    .enabled(if: sharedMedia("karma.mp4") != nil, "the shared clips are not on this machine"),
    arguments: ["karma.mp4", "nasa_13013.mp4", "nasa_13013_rotated.mp4", "test_non_zero_start.mp4"]
  )
  func `real footage reads back as ffmpeg decodes it in any order`(name: String) throws {
    let source = try #require(sharedMedia(name))
    let folder = try TemporaryFolder()
    let result = try SessionImporter(
      ImportOptions(file: source.path, into: folder.file("Recordings").path, link: true)
    ).run()

    // Each is decoded from a key frame far before it.
    let count = try check(source, session: result.folder.path, alone: 40)

    let expected = [
      "karma.mp4": 362, "nasa_13013.mp4": 715, "test_non_zero_start.mp4": 12,
    ]
    if let frames = expected[name] { #expect(count == frames) }
    #expect(result.status == .clean)
  }
}

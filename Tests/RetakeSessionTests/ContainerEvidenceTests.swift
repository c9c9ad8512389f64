import Foundation
import RetakeMedia
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeSession

/// Losses that the structure of Ogg, MXF, GIF, APNG, Y4M, fragmented MP4, FLV, ASF and IVF shows.
struct ContainerEvidenceTests {
  private static func clip(_ file: String, _ output: String...) -> Clip {
    Clip(
      name: file, file: file,
      inputs: ["-f", "lavfi", "-i", "testsrc2=size=96x64:rate=30", "-frames:v", "60"],
      output: output)
  }

  private static let ogg = clip(
    "a.ogv", "-c:v", "libtheora", "-q:v", "5", "-page_duration", "100000")
  private static let mxf = clip("a.mxf", "-c:v", "mpeg2video")
  private static let gif = clip("a.gif")
  private static let apng = clip("a.apng", "-f", "apng")
  private static let y4m = clip("a.y4m", "-pix_fmt", "yuv420p")
  private static let fragmented = clip(
    "a.mp4", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "15", "-bf", "0", "-movflags",
    "frag_keyframe+empty_moov+default_base_moof")
  private static let flv = clip("a.flv", "-c:v", "flv")
  private static let asf = clip("a.wmv", "-c:v", "wmv2")
  private static let ivf = clip("a.ivf", "-c:v", "libvpx", "-b:v", "200k")

  private func imported(_ clip: Clip, _ change: (inout Data) throws -> Void) throws -> ImportResult
  {
    let folder = try TemporaryFolder()
    let file = try clip.make(in: folder)
    var bytes = try Data(contentsOf: file)
    try change(&bytes)
    try bytes.write(to: file)
    return try SessionImporter(
      ImportOptions(file: file.path, into: folder.file("Recordings").path)
    ).run()
  }

  private func expectLoss(
    _ clip: Clip, _ text: String, sourceLocation: SourceLocation = #_sourceLocation,
    _ change: (inout Data) throws -> Void
  ) throws {
    let result = try imported(clip, change)
    #expect(result.status == .lossy, sourceLocation: sourceLocation)
    #expect(
      result.notes.contains { $0.contains(text) }, "\(result.notes)",
      sourceLocation: sourceLocation)
  }

  /// The positions at which pages, boxes or chunks of a name begin.
  private func places(_ name: String, in bytes: Data) -> [Int] {
    var (places, from) = ([Int](), bytes.startIndex)
    while let found = bytes.range(of: Data(name.utf8), in: from..<bytes.endIndex) {
      places.append(found.lowerBound)
      from = found.upperBound
    }
    return places
  }

  @Test(arguments: [ogg, mxf, gif, apng, y4m, fragmented, flv, asf, ivf])
  func `a whole file has no such note`(clip: Clip) throws {
    let result = try imported(clip) { _ in }
    #expect(result.status == .clean && result.notes.isEmpty, "\(result.notes)")
  }

  @Test func `a flipped bit in a page of Ogg is named with its place`() throws {
    var place = 0
    let result = try imported(Self.ogg) { bytes in
      let pages = places("OggS", in: bytes)
      place = pages[pages.count / 2]
      bytes[place + 200] ^= 1
    }
    #expect(result.status == .lossy)
    #expect(
      result.notes.contains(
        "the file is damaged: the page at byte \(place) is not what was written"),
      "\(result.notes)")
  }

  @Test func `a page of Ogg that is missing is named by the number of the next one`() throws {
    var place = 0
    let result = try imported(Self.ogg) { bytes in
      let pages = places("OggS", in: bytes)
      place = pages[pages.count / 2]
      bytes.removeSubrange(place..<pages[pages.count / 2 + 1])
    }
    #expect(result.status == .lossy)
    #expect(
      result.notes.contains(
        "1 page is missing before byte \(place): the numbers of the pages leap"),
      "\(result.notes)")
  }

  @Test func `files that are cut short say what is missing`() throws {
    let half = { (bytes: inout Data) in bytes = bytes.prefix(bytes.count / 2) }
    try expectLoss(Self.ogg, "the file is cut short: ", half)
    try expectLoss(Self.ogg, "the page that ends its stream is missing") { bytes in
      bytes = bytes.prefix(places("OggS", in: bytes).last ?? 0)
    }
    try expectLoss(Self.mxf, "the file is cut short: its header names a footer at byte", half)
    try expectLoss(Self.gif, "the file is cut short: its trailer is missing", half)
    try expectLoss(Self.apng, "the header counts 60 frames, and the file has", half)
    try expectLoss(Self.y4m, "the file is cut short: 500 bytes of its 'FRAME' are missing") {
      $0.removeLast(500)
    }
    try expectLoss(Self.flv, "the file is cut short: ") { $0.removeLast(100) }
    try expectLoss(Self.ivf, "the file is cut short: 5 bytes of its 'frame'") { $0.removeLast(5) }
  }

  @Test func `an APNG that was written to a pipe has no number of frames`() throws {
    let folder = try TemporaryFolder()
    let result = try runFFmpeg(
      arguments: ["-v", "error", "-nostdin"] + Self.apng.inputs + Self.apng.output + ["pipe:1"])
    let file = folder.file("pipe.apng")
    try result.stdoutBytes.write(to: file)
    #expect(ContainerEnd.losses(of: try MediaFile(path: file.path), format: "apng") == [])
  }

  @Test func `a chunk of an APNG with a wrong checksum is named`() throws {
    try expectLoss(Self.apng, "the file is damaged: the checksum of the chunk at byte") { bytes in
      bytes[places("fdAT", in: bytes)[20] + 30] ^= 1
    }
  }

  @Test(arguments: [gif, apng, y4m, flv, asf])
  func `a file behind another one that FFmpeg does not read is named`(clip: Clip) throws {
    var place = 0
    let result = try imported(clip) { bytes in
      place = bytes.count
      bytes += bytes
    }
    #expect(result.status == .lossy)
    #expect(
      result.notes.contains(
        "another file begins before byte \(place): not all of its frames are read"),
      "\(result.notes)")
  }

  // MARK: Sizes of FLV's tags

  /// The tags of an FLV file, each with the number after it.
  private func tags(_ bytes: Data) -> [Range<Int>] {
    var (tags, start) = ([Range<Int>](), 13)
    while start + 15 <= bytes.count {
      let size = bytes[start + 1..<start + 4].reduce(0) { $0 << 8 | Int($1) }
      tags.append(start..<start + size + 15)
      start += size + 15
    }
    return tags
  }

  @Test(arguments: ["removed", "doubled"])
  func `bytes of an FLV that are removed or doubled are named with their place`(
    change: String
  ) throws {
    let folder = try TemporaryFolder()
    let file = try Self.flv.make(in: folder)
    let whole = try Data(contentsOf: file)
    // The first tag has data about the file, and each twelfth picture is a key picture.
    let tag = tags(whole)[1 + 29]
    let middle = (tag.lowerBound + tag.upperBound) / 2
    let bytes =
      change == "removed"
      ? whole.prefix(middle) + whole.dropFirst(middle + 300)
      : whole.prefix(middle) + whole[middle - 300..<middle] + whole.dropFirst(middle)
    try bytes.write(to: file)

    let result = try SessionImporter(ImportOptions(file: file.path, into: folder.url.path)).run()

    #expect(result.status == .lossy)
    #expect(
      result.notes.contains { $0.hasPrefix("the file is damaged at byte \(tag.lowerBound): ") },
      "\(result.notes)")
    let store = try SessionReader(opening: result.folder.path).index.store
    let causes = try store.frames(track: 0, from: 0, count: 60).map(\.cause)
    let packets = try store.packets(track: 0, from: 0, count: 60)
    let next = try #require(packets.first { $0.index > 29 && $0.flags.contains(.key) }).index
    #expect(causes[..<29].allSatisfy { $0 == nil })
    #expect(causes[29..<next].allSatisfy { $0 == "media.packet.corrupt" })
    #expect(causes[next...].allSatisfy { $0 == nil })
    // A later cut is found, too.
    try bytes.dropLast(100).write(to: file)
    let losses = ContainerEnd.losses(of: try MediaFile(path: file.path), format: "flv")
    #expect(losses.count == 2 && losses[1].hasPrefix("the file is cut short: "), "\(losses)")
  }

  @Test func `numbers after the tags of an FLV that never were sizes are no loss`() throws {
    let folder = try TemporaryFolder()
    let file = try Self.flv.make(in: folder)
    let whole = try Data(contentsOf: file)
    func losses(_ number: (_ size: Int, _ sum: Int) -> Int) throws -> [String] {
      var (bytes, sum) = (whole, 0)
      for tag in tags(whole) {
        sum += tag.count - 4
        let written = number(tag.count - 4, sum)
        for place in 0..<4 {
          bytes[tag.upperBound - 1 - place] = UInt8(truncatingIfNeeded: written >> (8 * place))
        }
      }
      try bytes.write(to: file)
      return ContainerEnd.losses(of: try MediaFile(path: file.path), format: "flv")
    }
    #expect(try losses { size, _ in size } == [])
    #expect(try losses { _, _ in 0 } == [])
    #expect(try losses { size, _ in size - 11 } == [])
    #expect(try losses { size, _ in size + 77 } == [])
    #expect(try losses { _, sum in sum } == [])
    var count = 0
    let once = try losses { size, _ in
      count += 1
      return count == 20 ? size + 77 : size
    }
    #expect(once.count == 1 && once[0].hasPrefix("the file is damaged at byte "), "\(once)")
  }

  // MARK: Fragments

  /// Without the second of four fragments.
  private func withoutSecond(_ bytes: Data) -> (bytes: Data, place: Int) {
    let fragments = places("moof", in: bytes).map { $0 - 4 }
    var bytes = bytes
    bytes.removeSubrange(fragments[1]..<fragments[2])
    return (bytes, fragments[1])
  }

  /// Sets the numbers of the fragments, in turn.
  private func renumber(_ bytes: inout Data, _ numbers: [UInt8]) {
    for (place, number) in zip(places("mfhd", in: bytes), numbers) { bytes[place + 11] = number }
  }

  @Test func `a fragment that is missing is named if the numbers and the time leap`() throws {
    var place = 0
    let result = try imported(Self.fragmented) { bytes in
      (bytes, place) = withoutSecond(bytes)
    }
    #expect(result.status == .lossy && result.tracks[0].frames == 45)
    #expect(
      result.notes.contains(
        "fragments are missing before byte \(place): their numbers go from 1 to 3, and time leaps"),
      "\(result.notes)")
  }

  @Test func `numbers of fragments that restart, begin anywhere or leap alone are no loss`() throws
  {
    for numbers in [[7, 8, 9, 10], [1, 2, 1, 2], [1, 3, 5, 7]] as [[UInt8]] {
      let result = try imported(Self.fragmented) { renumber(&$0, numbers) }
      #expect(result.status == .clean && result.notes.isEmpty, "\(numbers): \(result.notes)")
    }
    // A pause of the camera: the time leaps, and the numbers do not.
    let paused = try imported(Self.fragmented) { bytes in
      bytes = withoutSecond(bytes).bytes
      renumber(&bytes, [1, 2, 3])
    }
    #expect(paused.status == .clean && paused.notes.isEmpty, "\(paused.notes)")
  }
}

import Foundation
import RetakeMedia
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeSession

struct ContainerEndTests {
  private static let inputs = [
    "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=30", "-frames:v", "60",
  ]
  private static let h264 = ["-c:v", "libx264", "-g", "12", "-bf", "2", "-pix_fmt", "yuv420p"]

  /// Several clusters each. Files with a name that ends in `live` have no sizes, as a reader of a
  /// pipe receives them.
  private static let matroska = Clip(
    name: "Matroska", file: "whole.mkv", inputs: inputs,
    output: h264 + ["-cluster_time_limit", "400"])
  private static let webM = Clip(
    name: "WebM", file: "whole.webm", inputs: inputs,
    output: [
      "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "200k",
      "-cluster_time_limit", "400",
    ])
  private static let live = Clip(
    name: "Matroska of unknown size", file: "live.mkv", inputs: inputs,
    output: h264 + ["-cluster_time_limit", "400", "-live", "1"])
  private static let avi = Clip(
    name: "AVI", file: "whole.avi", inputs: inputs, output: ["-c:v", "mpeg4", "-g", "12"])

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

  /// The positions at which Matroska's clusters begin.
  private func clusters(_ bytes: Data) -> [Int] {
    var (places, from) = ([Int](), bytes.startIndex)
    let id = Data([0x1F, 0x43, 0xB6, 0x75])
    while let found = bytes.range(of: id, in: from..<bytes.endIndex) {
      places.append(found.lowerBound)
      from = found.upperBound
    }
    return places
  }

  @Test(arguments: [matroska, webM, live, avi])
  func `a whole file has no such note`(clip: Clip) throws {
    let result = try imported(clip) { _ in }

    #expect(result.status == .clean && result.notes.isEmpty, "\(result.notes)")
    #expect(result.tracks[0].frames == 60)
  }

  @Test(arguments: [matroska, webM, avi], [40, 60, 95])
  func `a file cut short is lossy and says how much is missing`(clip: Clip, percent: Int) throws {
    var missing = 0
    let result = try imported(clip) { bytes in
      let kept = bytes.count * percent / 100
      missing = bytes.count - kept
      bytes = bytes.prefix(kept)
    }

    let part = clip.file.hasSuffix("avi") ? "RIFF" : "Segment"
    #expect(result.status == .lossy)
    #expect(
      result.notes.contains("the file is cut short: \(missing) bytes of its '\(part)' are missing"),
      "\(result.notes)")
  }

  @Test func `a live file that ends inside a cluster is cut short, between two it is whole`() throws
  {
    let inside = try imported(Self.live) { bytes in
      bytes = bytes.prefix(try #require(clusters(bytes).last) + 200)
    }
    #expect(inside.status == .lossy)
    #expect(inside.notes.contains { $0.hasPrefix("the file is cut short: ") })

    let between = try imported(Self.live) { bytes in
      bytes = bytes.prefix(try #require(clusters(bytes).last))
    }
    #expect(between.status == .clean && between.notes.isEmpty, "\(between.notes)")
  }

  @Test(arguments: [matroska, webM, live])
  func `a hole in the middle is lossy and says what is not read`(clip: Clip) throws {
    var hole = 0..<0
    let result = try imported(clip) { bytes in
      let second = try #require(clusters(bytes).dropFirst().first)
      hole = second..<second + 500
      bytes.replaceSubrange(hole, with: Data(count: hole.count))
    }

    #expect(result.status == .lossy)
    let note = try #require(result.notes.first { $0.contains("is not read") }, "\(result.notes)")
    #expect(note.hasPrefix("the file is damaged at byte \(hole.lowerBound): what is there up to "))
  }

  @Test(arguments: [matroska, live])
  func `files that were joined are looked through to the end`(clip: Clip) throws {
    let folder = try TemporaryFolder()
    let whole = try Data(contentsOf: try clip.make(in: folder))
    let file = folder.file("joined.mkv")
    let losses = { (bytes: Data) throws -> [String] in
      try bytes.write(to: file)
      return ContainerEnd.losses(of: try MediaFile(path: file.path), format: "matroska,webm")
    }

    #expect(try losses(whole + whole).isEmpty)
    let last = try #require(clusters(whole).last)
    #expect(
      try losses(whole + whole.prefix(last + 200)).first?.hasPrefix("the file is cut") == true)
    var holed = whole + whole
    let place = whole.count + (try #require(clusters(whole).dropFirst().first))
    holed.replaceSubrange(place..<place + 300, with: Data(count: 300))
    #expect(
      try losses(holed).first?.hasPrefix("the file is damaged at byte \(place): ") == true)
  }

  @Test func `blocks overwritten inside a cluster are missing up to the next one`() throws {
    var end = 0
    let result = try imported(Self.matroska) { bytes in
      let places = clusters(bytes)
      try #require(places.count > 2)
      // After the cluster's header, into the header of its first block.
      end = places[2]
      bytes.replaceSubrange(places[1] + 18..<places[1] + 60, with: Data(count: 42))
    }

    #expect(result.status == .lossy)
    #expect(
      result.notes.contains { $0.hasSuffix(": what is there up to byte \(end) is not read") },
      "\(result.notes)")
  }

  // MARK: Checksums of Matroska

  @Test func `a flipped bit in a cluster is named, and so are the frames that it may change`()
    throws
  {
    let folder = try TemporaryFolder()
    let file = try Self.matroska.make(in: folder)
    var bytes = try Data(contentsOf: file)
    let places = clusters(bytes)
    try #require(places.count > 4)
    bytes[(places[2] + places[3]) / 2] ^= 1
    try bytes.write(to: file)

    let result = try SessionImporter(ImportOptions(file: file.path, into: folder.url.path)).run()

    #expect(result.status == .lossy)
    #expect(
      result.notes.contains(
        "the file is damaged: the checksum of the cluster from byte \(places[2]) up to byte "
          + "\(places[3]) is wrong"), "\(result.notes)")
    #expect(result.notes.contains { $0.contains(" packets are in damaged clusters, the first ") })
    let store = try SessionReader(opening: result.folder.path).index.store
    let packets = try store.packets(track: 0, from: 0, count: 60)
    let inside = packets.filter { (places[2]..<places[3]).contains(Int($0.offset ?? 0)) }
    let rows = try store.frames(track: 0, sequences: 0..<60)
    #expect(inside.count > 5)
    for packet in inside {
      #expect(rows.first { $0.packet == packet.index }?.cause == "media.packet.corrupt")
    }
    // Up to the cluster, and from the key picture after it, frames are as they were.
    let first = try #require(inside.first).index
    let key = try #require(
      packets.first { $0.flags.contains(.key) && Int($0.offset ?? 0) >= places[3] }
    ).index
    #expect(rows.allSatisfy { $0.cause == nil || (first..<key).contains($0.packet ?? 0) })
  }

  @Test func `the only group of pictures is kept if its cluster is damaged`() throws {
    let clip = Clip(
      name: "one cluster", file: "one.mkv", inputs: Self.inputs,
      output: ["-c:v", "mpeg4", "-g", "90"])
    let result = try imported(clip) { bytes in
      let first = try #require(clusters(bytes).first)
      bytes[first + (bytes.count - first) / 2] ^= 1
    }
    #expect(result.status == .lossy && result.tracks[0].frames == 60)
    #expect(
      result.notes.contains {
        $0.hasSuffix("; any frame may be damaged, as no key frame is elsewhere")
      }, "\(result.notes)")
  }

  /// An element of Matroska that begins with its checksum.
  ///
  /// - Parameter isSized: Otherwise its size is unknown.
  private func element(
    _ id: [UInt8], _ content: [UInt8], isChecked: Bool = true, isSized: Bool = true
  ) -> [UInt8] {
    let sum = CyclicChecksum.png(content[...])
    let checksum = [0xBF, 0x84] + (0..<4).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) }
    let bytes = (isChecked ? checksum : []) + content
    let size = [0x10, 0, UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
    return id + (isSized ? size : [0xFF]) + bytes
  }

  @Test func `checksums of parts and of clusters without a size are compared`() throws {
    let folder = try TemporaryFolder()
    let (header, cluster, tags) = (
      element([0x1A, 0x45, 0xDF, 0xA3], []), [0x1F, 0x43, 0xB6, 0x75] as [UInt8],
      [0x12, 0x54, 0xC3, 0x67] as [UInt8]
    )
    let block = element(
      [0xA3], [0x81, 0, 0, 0x80] + [UInt8](repeating: 7, count: 300), isChecked: false)
    func losses(_ element: [UInt8], flips place: Int?) throws -> [String] {
      var bytes =
        header + self.element([0x18, 0x53, 0x80, 0x67], element, isChecked: false, isSized: false)
      if let place { bytes[bytes.count - place] ^= 1 }
      let file = folder.file("made.mkv")
      try Data(bytes).write(to: file)
      return ContainerEnd.losses(of: try MediaFile(path: file.path), format: "matroska,webm")
    }
    let group = element([0xA0], block)
    for (name, made) in [
      ("cluster", element(cluster, block + block)),
      ("cluster", element(cluster, block + block, isSized: false)),
      ("group of blocks", element(cluster, block + group, isChecked: false)),
      ("element 'Tags'", element(tags, element([0x73, 0x73], [0x63, 0xC0, 0x82, 1, 1]))),
      (
        "element 'Tags'",
        element(tags, element([0x73, 0x73], [0x63, 0xC0, 0x82, 1, 1]), isChecked: false)
      ),
    ] {
      #expect(try losses(made, flips: nil) == [], "\(name)")
      let found = try losses(made, flips: 1)
      #expect(found.count == 1)
      #expect(
        found.first?.hasPrefix("the file is damaged: the checksum of the \(name) ") == true,
        "\(found)")
    }
    // The number of bytes of a checksum is fixed, and other elements may begin with the same byte.
    let odd = [0xBF, 0x83, 1, 2, 3] + block
    #expect(try losses(element(cluster, odd, isChecked: false), flips: nil) == [])
    let plain = element(cluster, block + block, isChecked: false)
    #expect(try losses(plain, flips: 1) == [])
  }

  /// The position at which the last `moof` box of an MP4 begins.
  private func lastFragment(_ bytes: Data) throws -> Int {
    try #require(bytes.range(of: Data("moof".utf8), options: .backwards)).lowerBound - 4
  }

  @Test func `a broken box of an MP4 is called damaged and not cut short`() throws {
    var place = 0
    let result = try imported(.fragmented) { bytes in
      place = try lastFragment(bytes)
      bytes.replaceSubrange(
        place..<place + 8, with: [0xB3, 0x85, 0xD1, 0x27] + Array("qRX\u{1}".utf8))
    }

    #expect(result.status == .lossy)
    #expect(
      result.notes.contains("the file is damaged: the box at byte \(place) cannot be read"),
      "\(result.notes)")
  }

  @Test func `zeros that fill an MP4 up are not damage, zeros before a box are`() throws {
    let filled = try imported(.fragmented) { $0 += Data(count: 4_096) }
    #expect(filled.status == .clean && filled.notes.isEmpty, "\(filled.notes)")

    var place = 0
    let result = try imported(.fragmented) { bytes in
      place = bytes.count
      bytes += Data(count: 4_096) + bytes.suffix(600)
    }
    #expect(result.status == .lossy)
    #expect(result.notes.contains { $0.hasSuffix("the box at byte \(place) cannot be read") })
  }

  @Test(arguments: [Data(count: 8), Data("JUNK".utf8), Data("00dc".utf8) + Data([9, 9, 9, 1])])
  func `a chunk of an AVI that is not the one of the index is named`(head: Data) throws {
    var place = 0
    let result = try imported(Self.avi) { bytes in
      let list = try #require(bytes.range(of: Data("movi".utf8))).upperBound
      let frame = try #require(
        bytes.range(of: Data("00dc".utf8), in: list + bytes.count / 3..<bytes.endIndex))
      place = frame.lowerBound
      bytes.replaceSubrange(place..<place + head.count, with: head)
    }
    #expect(result.status == .lossy)
    #expect(
      result.notes.contains(
        "the file is damaged: the chunk at byte \(place) is not the one that the index names"),
      "\(result.notes)")
  }

  @Test func `a file behind another one that is not read is named`() throws {
    let folder = try TemporaryFolder()
    let (live, sized) = (
      try Data(contentsOf: Self.live.make(in: folder)),
      try Data(contentsOf: Self.matroska.make(in: folder))
    )
    let matroska = try imported(Self.live) { $0 = live + sized }
    #expect(matroska.status == .lossy && matroska.tracks[0].frames == 60)
    #expect(matroska.notes.contains { $0.hasPrefix("another file begins") }, "\(matroska.notes)")

    let movie = try imported(.openGOP) { $0 += $0 }
    #expect(movie.status == .lossy)
    #expect(movie.notes.contains { $0.hasPrefix("another file begins") }, "\(movie.notes)")
  }

  @Test func `an MP4 that is cut in the head of a box says so`() throws {
    var place = 0
    let result = try imported(.fragmented) { bytes in
      place = try lastFragment(bytes)
      bytes = bytes.prefix(place + 5)
    }
    #expect(result.status == .lossy)
    #expect(
      result.notes.contains("the file is cut short in the head of the box at byte \(place)"),
      "\(result.notes)")
  }
}

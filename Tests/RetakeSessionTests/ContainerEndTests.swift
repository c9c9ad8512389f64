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

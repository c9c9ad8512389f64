import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeMedia
import RetakeStages
import RetakeTestFrames
import RetakeTestSupport
import Testing

@Suite struct StaticSourceTests {
  private let pictures = (0..<3).map { level in frame(.gray, 4, 2) { _, _, _ in level } }

  @Test func `frames in memory get names and times, and keep their pixels`() throws {
    let source = try StaticSource(pictures, fps: 25)
    let second = try source.frame(FrameID(track: 0, sequence: 1))
    #expect(second.id == FrameID(track: 0, sequence: 1))
    #expect(second.timestamp == Timestamp(nanoseconds: 40_000_000))
    #expect(share(second, pictures[1]))
    #expect(source.tracks.map(\.frameCount) == [3])
    #expect(source.tracks[0].timeBase == TimeBase(1, 25))
    #expect(source.entries(of: 0, sequences: 1..<9).map(\.pts) == [1, 2])
    #expect(source.entries(of: 1, sequences: 0..<9).isEmpty)
  }

  @Test func `frames in memory may have times of their own`() throws {
    let source = try StaticSource(pictures, pts: [0, 1_001, 5_000], timeBase: TimeBase(1, 1_000))
    #expect(
      source.entries(of: 0, sequences: 0..<3).map(\.timestamp.nanoseconds)
        == [0, 1_001_000_000, 5_000_000_000])
  }

  @Test func `a source without frames, or with falling times, is refused`() {
    #expect(throws: OptionError.self) { try StaticSource([]) }
    #expect(throws: OptionError.self) {
      try StaticSource(pictures, pts: [0, 2, 1], timeBase: TimeBase(1, 30))
    }
    #expect(throws: OptionError.self) {
      try StaticSource(pictures, pts: [0], timeBase: TimeBase(1, 30))
    }
  }

  @Test func `a frame that is not there is named`() throws {
    let source = try StaticSource(pictures)
    let error = #expect(throws: StagesError.self) {
      try source.frame(FrameID(track: 0, sequence: 3))
    }
    #expect(error?.code == "stages.reader.noSuchFrame")
    #expect(error?.description == "frame 0:3: the source has no frame 0:3; it has 3 on track 0")
  }

  @Test func `rates become time bases`() throws {
    for (fps, base) in [
      (30.0, TimeBase(1, 30)), (29.97, TimeBase(1_001, 30_000)), (23.976, TimeBase(1_001, 24_000)),
      (12.5, TimeBase(1_000, 12_500)),
    ] {
      #expect(try StaticSource(pictures, fps: fps).tracks[0].timeBase == base)
    }
    #expect(throws: OptionError.self) { try StaticSource(pictures, fps: 0) }
    #expect(throws: OptionError.self) { try StaticSource(pictures, fps: .nan) }
  }
}

@Suite struct ImagesSourceTests {
  private func folder() throws -> TemporaryFolder {
    let folder = try TemporaryFolder("retake-images")
    for (name, level) in [("b.png", 40), ("a.PNG", 20), ("c.png", 60), (".hidden.png", 80)] {
      let picture = frame(.gray, 16, 8) { _, _, x in level + x }
      try Data(MediaImage.png(picture)).write(to: folder.file(name))
    }
    try folder.write("no picture", to: "notes.txt")
    return folder
  }

  private func source(_ path: String) throws -> any FrameReader {
    try ImagesSource(options: ImagesOptions(path: path, fps: 10)).open()
  }

  @Test func `a folder's pictures come in the order of their names`() throws {
    let folder = try folder()
    let reader = try source(folder.url.path)
    #expect(reader.tracks.map(\.frameCount) == [3])
    #expect(reader.tracks.map(\.width) == [16])
    let frames = try (0..<3).map { try reader.frame(FrameID(track: 0, sequence: $0)) }
    #expect(frames.map { $0.bytes(of: 0)[1] } == [21, 41, 61])
    #expect(frames.map(\.timestamp.nanoseconds) == [0, 100_000_000, 200_000_000])
    #expect(frames.map(\.id.sequence) == [0, 1, 2])
  }

  @Test func `a single picture is one frame`() throws {
    let folder = try folder()
    let reader = try source(folder.file("c.png").path)
    #expect(reader.tracks.map(\.frameCount) == [1])
    #expect(try reader.frame(FrameID(track: 0, sequence: 0)).bytes(of: 0)[0] == 60)
  }

  @Test func `what is missing or no picture is said`() throws {
    let folder = try folder()
    let empty = try TemporaryFolder("retake-no-images")
    let missing = #expect(throws: StagesError.self) { try source(empty.file("none").path) }
    #expect(missing?.code == "stages.images.notFound")
    let none = #expect(throws: StagesError.self) { try source(empty.url.path) }
    #expect(none?.advice == "Add images whose names end in .png, .jpg or .jpeg")
    #expect(throws: MediaError.self) { try source(folder.file("notes.txt").path) }
  }

  @Test func `a folder that cannot be read is not called empty`() throws {
    let folder = try folder()
    let source = try ImagesSource(options: ImagesOptions(path: folder.url.path))
    let error = #expect(throws: MediaError.self) {
      try source.files { _ in throw CocoaError(.fileReadNoPermission) }
    }
    #expect(error?.code == "media.open.unreadable")
    #expect(error?.place?.file == folder.url.path)
    #expect(error?.cause?.contains("Domain=") == false)
  }
}

import Testing

@testable import RetakeMedia

@Suite(.enabled(if: Clips.hasFFmpeg, "the ffmpeg command is not on this machine"))
struct ImageMemoryTests {
  @Test func `decoded pictures lie in the memory and are used again`() throws {
    let file = try Clips.make(
      "reuse.mkv", Clips.picture("160x120", frames: 60) + ["-c:v", "libx264", "-bf", "2"])
    let memory = ImageMemory()
    let demuxer = try MediaDemuxer(path: file)
    let decoder = try MediaDecoder(stream: try demuxer.videoStream(), memory: memory)
    #expect(decoder.usesImageMemory)
    while let packet = try demuxer.nextPacket() { _ = try decoder.decode(packet) }
    _ = try decoder.decode(nil)
    let counts = memory.counts
    #expect(counts.made + counts.reused >= 60)
    #expect(counts.made <= 12, "few blocks serve all 60 frames")
  }

  @Test func `frames held by somebody keep their pixels while the decoder goes on`() throws {
    let file = try Clips.make("held.mkv", Clips.picture("96x64") + ["-c:v", "libx264"])
    let memory = ImageMemory(preparation: .poisoned)
    let frames = try decodeAll(file, memory: memory)
    #expect(memory.counts.lent >= 30, "every held frame still has its block")
    #expect(try frames.map(\.frame.frameHash) == Clips.frameHashes(file))
  }

  @Test func `poison is really there, outside of what the decoder writes`() throws {
    let file = try Clips.make("poison.mkv", Clips.picture("100x60", frames: 3) + ["-c:v", "ffv1"])
    for (preparation, expected) in [
      (ImageMemory.Preparation.poisoned, UInt8(0xA5)), (.asItIs, 0),
    ] {
      let frames = try decodeAll(file, memory: ImageMemory(preparation: preparation))
      let storage = try #require(frames.first).frame.storage
      let plane = storage.planes[0]
      #expect(plane.stride > 100)
      let last = withExtendedLifetime(storage) { plane.base[plane.stride - 1] }
      #expect(last == expected, "the last byte of the first row's padding")
    }
  }

  @Test func `all memory comes back, and no more waits than the bound allows`() throws {
    let file = try Clips.make("bound.mkv", Clips.picture("96x64") + ["-c:v", "libx264"])
    let memory = ImageMemory(waitingMax: 4)
    var frames = try decodeAll(file, memory: memory)
    #expect(frames.count == 30)
    frames = []
    #expect(memory.counts.lent == 0)
    #expect(memory.counts.waiting == 4)
  }

  @Test func `frames may be let go on other threads, after decoder and memory`() async throws {
    let file = try Clips.make("threads.mkv", Clips.picture("96x64") + ["-c:v", "libx264"])
    let frames = try decodeAll(file)
    let expected = try Clips.frameHashes(file)
    let hashes = await withTaskGroup(of: (Int, String).self) { group in
      for (index, decoded) in frames.enumerated() {
        group.addTask { (index, decoded.frame.frameHash) }
      }
      return await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
    }
    #expect((0..<30).map { hashes[$0] } == expected)
  }
}

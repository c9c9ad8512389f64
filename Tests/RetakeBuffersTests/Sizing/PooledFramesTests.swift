import RetakeBuffers
import RetakeCore
import Testing

/// A pool of images: the same pool, used for frames.
@Suite struct PooledFramesTests {
  private static func picture() -> Frame {
    Frame(
      id: FrameID(track: 0, sequence: 0), format: .gray, width: 4, height: 2,
      planes: [Array(repeating: 7, count: 8)])
  }

  @Test func `frames are leased, used again, and what is forgotten is named`() throws {
    let pool = BufferPool("frames", sizing: PoolSizing(), capacity: 4) { Self.picture() }
    let camera = try (0..<4).map { _ in try #require(try pool.lease(for: "camera")) }
    #expect(camera.allSatisfy { $0.buffer.width == 4 && $0.buffer.bytes(of: 0).count == 8 })
    #expect(try pool.lease(for: "preview") == nil)
    camera[0].end()
    let preview = try #require(try pool.lease(for: "preview"))
    preview.end()
    preview.end()
    camera.dropFirst().forEach { $0.end() }
    #expect(pool.report.faults == ["'preview' ended 1 leases twice"])
    #expect(pool.report.inUse == 0 && pool.report.stalls == 1 && pool.report.peak == 4)
    #expect(pool.ranShortOfMemory(at: 0).resize?.to == 3)
    #expect(pool.report.size == 3)
  }
}

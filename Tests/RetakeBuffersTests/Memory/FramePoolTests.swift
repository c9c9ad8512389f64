import RetakeCore
import Testing

@testable import RetakeBuffers

@Suite struct FramePoolTests {
  /// A frame of 512 x 512 gray pixels has a separate mapping.
  private static let side = 512

  private final class Owner: Sendable {}

  private func frame(
    of pool: FramePool, level: UInt8, side: Int = side
  ) throws -> Frame? {
    guard
      var frame = try pool.makeFrame(for: "camera", format: .gray, width: side, height: side)
    else { return nil }
    frame.forEachRow(of: 0) { _, bytes in
      for x in bytes.indices { bytes[x] = level }
    }
    return frame.finish()
  }

  @Test func `a frame is written, finished, read, and its memory is used again`() throws {
    let pool = FramePool("frames", capacity: 2)
    for level in UInt8(1)..<5 {
      let frame = try #require(try frame(of: pool, level: level))
      #expect(frame.bytes(of: 0) == Array(repeating: level, count: Self.side * Self.side))
      #expect(pool.report.inUse == 1)
    }
    #expect(pool.report.inUse == 0 && pool.report.peak == 1 && pool.report.faults.isEmpty)
    #expect(pool.memory.made == 1 && pool.memory.reused == 3)
  }

  @Test func `a pool whose frames are all in use refuses one more`() throws {
    let pool = FramePool("frames", capacity: 2)
    var held = try (0..<2).map { try frame(of: pool, level: UInt8($0)) }
    #expect(try frame(of: pool, level: 9) == nil)
    #expect(pool.report.stalls == 1 && pool.report.overflows == 0)
    // Two references to the pixels: the memory comes back with the last one.
    let copy = held[0]
    held[0] = nil
    #expect(pool.report.inUse == 2)
    #expect(copy?.bytes(of: 0).first == 0)
  }

  @Test func `a pool that shrinks has less memory, now or when a frame comes back`() throws {
    let pool = FramePool("frames", sizing: PoolSizing(), capacity: 8)
    let bytes = PixelMemory.size(for: Self.side * Self.side + FrameStorage.padding)
    var held = try (0..<8).map { try frame(of: pool, level: UInt8($0)) }
    #expect(pool.bytes == 8 * bytes)
    held.removeLast(4)
    #expect(pool.bytes == 8 * bytes)
    #expect(pool.ranShortOfMemory(at: 0).resize?.to == 3)
    // Four frames are in use: no memory may wait.
    #expect(pool.bytes == 4 * bytes)
    held.removeLast(1)
    #expect(pool.bytes == 3 * bytes)
    held = []
    #expect(pool.bytes == 3 * bytes && pool.report.inUse == 0)
  }

  @Test func `memory of another size makes room for the one that is needed`() throws {
    let pool = FramePool("frames", capacity: 1)
    #expect(try frame(of: pool, level: 1) != nil)
    #expect(try frame(of: pool, level: 2, side: 2 * Self.side) != nil)
    #expect(pool.bytes == PixelMemory.size(for: 4 * Self.side * Self.side + FrameStorage.padding))
    #expect(pool.memory.made == 2)
  }

  @Test func `a frame that is not finished gives its memory back`() throws {
    let pool = FramePool("frames", capacity: 1)
    for _ in 0..<2 {
      guard let frame = try pool.makeFrame(for: "camera", format: .i420, width: 64, height: 48)
      else { break }
      _ = consume frame
    }
    #expect(pool.report.inUse == 0 && pool.memory.reused == 1)
  }

  @Test func `a frame for which there is no memory is an error, and no lease`() {
    let pool = FramePool("frames", capacity: 1)
    #expect(throws: PoolError.self) {
      try pool.makeFrame(for: "camera", format: .gray, width: 64, height: 1 << 40)?.finish()
    }
    #expect(pool.report.inUse == 0 && pool.report.allocationFailures == 1)
  }

  @Test func `the memory of a run refuses nothing, and counts what is beyond its size`() throws {
    let memory = RunMemory(pools: [("frames", 2)], poolOfNode: ["copy": 0])
    let frames = (0..<5).map { _ in
      WritableFrame(
        in: memory.supply(of: "copy"), format: .gray, width: Self.side, height: Self.side,
        range: .full, matrix: nil
      ).finish()
    }
    #expect(frames.count == 5 && memory.pools[0].report.overflows == 3)
    #expect(memory.pools[0].report.stalls == 0)
    #expect(memory.shared.memory.made == 0)
  }

  @Test func `after its frames a pool of a run keeps no more memory than its size`() {
    let memory = RunMemory(pools: [("frames", 2)], poolOfNode: ["copy": 0])
    do {
      let frames = (0..<5).map { _ in
        WritableFrame(
          in: memory.supply(of: "copy"), format: .gray, width: Self.side, height: Self.side,
          range: .full, matrix: nil
        ).finish()
      }
      withExtendedLifetime(frames) {}
    }
    #expect(memory.bytes == 2 * PixelMemory.size(for: Self.side * Self.side + 64))
    memory.pools[0].resize(to: 1)
    #expect(memory.bytes == PixelMemory.size(for: Self.side * Self.side + 64))
  }

  @Test func `what no pool bounds keeps memory for a few frames, and gives the rest back`() {
    let memory = RunMemory(pools: [], poolOfNode: [:])
    do {
      let frames = (0..<100).map { _ in
        WritableFrame(
          in: memory.supply(of: "any"), format: .gray, width: 8, height: 4, range: .full,
          matrix: nil
        ).finish()
      }
      withExtendedLifetime(frames) {}
    }
    #expect(memory.shared.report.inUse == 0 && memory.shared.memory.made == 100)
    #expect(memory.bytes == 64 * PixelMemory.size(for: 4 * 64 + 64))
  }

  @Test(arguments: [false, true])
  func `leased memory is poisoned where that is asked for, also when it is used again`(
    isPoisoned: Bool
  ) {
    let memory = RunMemory(
      pools: [], poolOfNode: [:], RunMemory.Options(isPoisoned: isPoisoned))
    for level in [UInt8(0), 7] {
      var frame = WritableFrame(
        in: memory.supply(of: "any"), format: .gray, width: Self.side, height: Self.side,
        range: .full, matrix: nil)
      var found: UInt8 = 0
      frame.forEachRow(of: 0) { row, bytes in
        if row == 9 { found = bytes[9] }
        for x in bytes.indices { bytes[x] = 7 }
      }
      #expect(found == (isPoisoned ? 0xA5 : level))
      _ = frame.finish()
    }
  }

  @Test(arguments: [false, true])
  func `only a run with programs has frames in the memory that it shares with them`(
    isShared: Bool
  ) throws {
    let page = 4_096
    let block = UnsafeMutableRawPointer.allocate(byteCount: page, alignment: page)
    // SAFETY: all leases and the arena have ended then.
    defer { block.deallocate() }
    let arena = FrameArena(
      address: UInt(bitPattern: block), sections: 1, sectionBytes: page, owner: Owner())
    let memory = RunMemory(
      pools: [("frames", 2)], poolOfNode: ["copy": 0], RunMemory.Options(isShared: isShared))
    let leases = (0..<2).map { _ in
      PixelLease.make(100, from: memory.supply(of: "copy"), sharedIn: arena)
    }
    // The arena has space for a single frame.
    #expect(leases.map { $0?.base == block } == [isShared, false])
    #expect(memory.pools[0].memory.made == (isShared ? 1 : 2))
    withExtendedLifetime(leases) {}
  }

  @Test func `work makes its frames in the memory of its stage`() throws {
    let memory = RunMemory(pools: [("frames", 2)], poolOfNode: ["copy": 0])
    let result = FrameShortage.checked(in: memory.supply(of: "copy")) {
      // Work within the work, as in a foreign stage.
      FrameShortage.checked {
        Frame(format: .gray, width: 4, height: 2, planes: [Array(repeating: 3, count: 8)])
      }
    }
    let frame = try result.get().get()
    #expect(memory.pools[0].report.stages.map(\.stage) == ["copy"])
    #expect(memory.pools[0].report.inUse == 1)
    withExtendedLifetime(frame) {}
  }

  @Test(arguments: [true, false])
  func `a pool of a stage's own refuses nothing in a replay`(isVirtual: Bool) throws {
    let own = BufferPool("own", capacity: 6) { [UInt8](repeating: 0, count: 4) }
    let memory = RunMemory(
      pools: [], poolOfNode: [:], RunMemory.Options(isVirtual: isVirtual))
    let leases = FrameSupply.using(memory.supply(of: "any")) {
      (0..<10).map { _ in (try? own.lease(for: "stage")) ?? nil }
    }
    #expect(leases.count { $0 != nil } == (isVirtual ? 10 : 6))
    #expect(own.report.overflows == (isVirtual ? 4 : 0))
    #expect(own.report.stalls == (isVirtual ? 0 : 4))
    for case let lease? in leases { lease.end() }
    #expect(own.report.faults.isEmpty && own.report.inUse == 0)
    // Outside of a run it is bounded.
    let outside = try (0..<7).map { _ in try own.lease(for: "app") }
    #expect(outside.count { $0 != nil } == 6)
    for case let lease? in outside { lease.end() }
  }
}

@Suite struct WritableFrameTests {
  @Test(arguments: PixelFormat.basic)
  func `each visible byte is written through its row, and copies are equal`(format: PixelFormat) {
    func painted() -> Frame {
      var frame = WritableFrame(
        in: nil, format: format, width: 37, height: 23, range: .full, matrix: nil)
      for plane in 0..<format.planeCount {
        frame.forEachRow(of: plane) { row, bytes in
          for x in bytes.indices { bytes[x] = UInt8(truncatingIfNeeded: 31 * row + x + plane) }
        }
      }
      return frame.finish()
    }
    let frame = painted()
    for plane in 0..<format.planeCount {
      let width = format.rowBytes(plane: plane, width: 37)
      let expected = (0..<format.rowCount(plane: plane, height: 23)).flatMap { row in
        (0..<width).map { UInt8(truncatingIfNeeded: 31 * row + $0 + plane) }
      }
      #expect(frame.bytes(of: plane) == expected)
    }
    var copy = WritableFrame(
      in: nil, format: format, width: 37, height: 23, range: .full, matrix: nil)
    copy.copyPixels(of: frame)
    #expect(copy.finish().digest == frame.digest)
  }

  @Test func `a frame without memory fails its work, and nothing is written`() {
    let result = FrameShortage.checked {
      var frame = WritableFrame(
        in: nil, format: .gray, width: 64, height: 1 << 40, range: .full, matrix: nil)
      frame.forEachRow(of: 0) { _, _ in Issue.record("there was memory") }
      return frame.finish().storage.planes.count
    }
    guard case .failure(let error) = result else {
      Issue.record("there was memory")
      return
    }
    #expect(error.code == "frame.memory")
  }

  @Test func `pixels are copied from a frame of the same form alone`() async {
    await #expect(processExitsWith: .failure) {
      var frame = WritableFrame(
        in: nil, format: .gray, width: 4, height: 2, range: .full, matrix: nil)
      frame.copyPixels(
        of: Frame(format: .gray, width: 2, height: 4, planes: [Array(repeating: 0, count: 8)]))
    }
  }
}

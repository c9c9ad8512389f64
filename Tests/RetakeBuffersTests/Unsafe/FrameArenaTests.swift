import Foundation
import Testing

@testable import RetakeBuffers

@Suite struct FrameArenaTests {
  private static let page = 4_096

  /// Memory for two sections of four pages.
  private final class Memory: Sendable {
    let address: UInt

    init() {
      // SAFETY: only deinit frees it.
      let block = UnsafeMutableRawPointer.allocate(byteCount: 8 * page, alignment: page)
      address = UInt(bitPattern: block)
    }

    deinit { UnsafeMutableRawPointer(bitPattern: address)?.deallocate() }
  }

  private func arena() -> (FrameArena, UInt) {
    let memory = Memory()
    return (
      FrameArena(
        address: memory.address, sections: 2, sectionBytes: 4 * Self.page, owner: memory),
      memory.address
    )
  }

  @Test func `a block is inside of one section, and is used again`() throws {
    let (arena, start) = arena()
    func offset(_ block: UnsafeMutableRawPointer?) -> UInt? {
      block.map { UInt(bitPattern: $0) - start }
    }
    let pages = UInt(Self.page)
    let first = try #require(arena.take(3 * Self.page - 1))
    #expect(offset(first) == 0)
    let second = try #require(arena.take(2 * Self.page))
    #expect(offset(second) == 4 * pages)
    #expect(arena.take(3 * Self.page) == nil)
    #expect(arena.take(5 * Self.page) == nil && arena.take(0) == nil)
    arena.giveBack(first, 3 * Self.page - 1)
    #expect(offset(arena.take(3 * Self.page)) == 0)
    arena.giveBack(first, 3 * Self.page)
    arena.giveBack(second, 2 * Self.page)
    // No block is in use, so blocks of another size begin at the beginning.
    #expect(offset(arena.take(4 * Self.page)) == 0)
  }

  @Test func `the places of a frame are those of its rows, also of a part of it`() throws {
    let (arena, start) = arena()
    // SAFETY: inside of the arena's memory, which the arena keeps.
    func plane(_ offset: Int, _ stride: Int) throws -> FrameStorage.Plane {
      let base = try #require(UnsafePointer<UInt8>(bitPattern: start + UInt(offset)))
      return FrameStorage.Plane(base: base, stride: stride)
    }
    func places(_ planes: [FrameStorage.Plane], _ format: PixelFormat) -> [[Int]]? {
      let storage = FrameStorage(planes: planes) {}
      let frame = Frame(format: format, width: 6, height: 4, storage: storage)
      return arena.places(of: frame).map { found in
        [[found.section]] + found.planes.map { [$0.offset, $0.stride] }
      }
    }
    let section = 4 * Self.page
    #expect(try places([plane(70, 64)], .gray) == [[0], [70, 64]])
    let chroma = try [plane(section, 64), plane(section + 256, 32), plane(section + 320, 32)]
    #expect(places(chroma, .i420) == [[1], [0, 64], [256, 32], [320, 32]])
    // The last row ends at the last byte of the section, and one byte after it.
    #expect(try places([plane(section - 3 * 64 - 6, 64)], .gray) != nil)
    #expect(try places([plane(section - 3 * 64 - 5, 64)], .gray) == nil)
    #expect(try places([plane(0, 64), plane(section, 32), plane(300, 32)], .i420) == nil)
    let elsewhere = Memory()
    let other = FrameStorage.Plane(
      base: try #require(UnsafePointer<UInt8>(bitPattern: elsewhere.address)), stride: 64)
    #expect(places([other], .gray) == nil)
    withExtendedLifetime(elsewhere) {}
  }
}

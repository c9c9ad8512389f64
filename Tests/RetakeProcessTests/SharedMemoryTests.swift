import Foundation
import Testing

@testable import RetakeProcess

struct SharedMemoryTests {
  @Test func `the parent reads what a child wrote, and nobody changes the size`() throws {
    let memory = try SharedMemory(byteCount: 1 << 16, writer: .child)
    #expect(memory.byteCount == 1 << 16)
    // The child has the same file under another number.
    let descriptor = dup(memory.descriptor)
    try #require(descriptor >= 0)
    let child = try SharedMemory(inherited: descriptor)
    #expect(child.byteCount == memory.byteCount)
    Array("pixels".utf8).withUnsafeBytes { child.write($0, at: 4_090) }
    // SAFETY: inside of the memory, which exists until the end of this test.
    let read = UnsafeRawPointer(bitPattern: memory.address(of: 4_090)).map {
      Array(UnsafeRawBufferPointer(start: $0, count: 6))
    }
    #expect(read == Array("pixels".utf8))
    #if os(Linux)
      #expect(memory.isSealed)
      #expect(ftruncate(descriptor, 4_096) != 0 && ftruncate(descriptor, 1 << 20) != 0)
    #endif
    withExtendedLifetime((memory, child)) {}
  }

  @Test func `a file that is no memory is an error`() throws {
    #expect(throws: ChildProcessError.self) { try SharedMemory(inherited: -1) }
  }
}

import RetakeBuffers
import RetakeCore
import Testing

@Suite struct FrameShortageTests {
  /// More than any machine has.
  private let rows = 1 << 40

  private func storage(rows: Int) -> FrameStorage {
    FrameStorage.make(format: .i420, width: 64, height: rows) { _, _ in }
  }

  @Test func `a frame that finds no memory fails the work that made it`() {
    let result = FrameShortage.checked { storage(rows: rows).planes.count }
    guard case .failure(let error) = result else {
      Issue.record("there was memory for \(rows) rows")
      return
    }
    #expect(error == ErrorFacts.frameMemory(width: 64, height: rows))
    #expect(error.code == "frame.memory" && error.message.contains("64x\(rows)"))
  }

  @Test func `every row of storage without room can be read and written`() {
    let result = FrameShortage.checked {
      let blank = storage(rows: rows)
      let frame = Frame(format: .i420, width: 64, height: 48, storage: blank)
      #expect((0..<3).allSatisfy { frame.bytes(of: $0).allSatisfy { $0 == 0 } })
    }
    guard case .failure = result else {
      Issue.record("there was memory for \(rows) rows")
      return
    }
  }

  @Test func `work whose frames find memory gives its value, within other work too`() {
    let outer = FrameShortage.checked {
      let inner = FrameShortage.checked { storage(rows: rows).planes.count }
      guard case .failure = inner else { return 0 }
      return storage(rows: 4).planes.count
    }
    #expect((try? outer.get()) == 3)
  }

  @Test func `storage that may be refused is refused`() {
    let storage = FrameStorage.makeIfRoom(format: .gray, width: 64, height: rows) { _, _ in }
    #expect(storage == nil)
  }
}

import Testing

@testable import RetakeStore

@Suite struct AddressRoomTests {
  @Test func `a process that is not short of memory has room, however often it asks`() {
    for _ in 0..<1_000 { #expect(AddressRoom.isThere) }
  }
}

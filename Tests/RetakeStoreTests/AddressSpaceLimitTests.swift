import Testing

@testable import RetakeStore

@Suite struct AddressSpaceLimitTests {
  @Test func `a process that is not short of memory has room, however often it asks`() {
    for _ in 0..<1_000 { #expect(AddressSpaceLimit.isThere) }
  }

  @Test(arguments: [
    (Int64(4_096), true, true), (4_096, false, true), (80 << 20, true, false),
    (80 << 20, false, true),
  ])
  func `a refusal is about memory unless a giant value was asked for and there is room`(
    largest: Int64, hasRoom: Bool, isAboutMemory: Bool
  ) {
    #expect(
      AddressSpaceLimit.isCause(largestBytes: largest, hasRoom: hasRoom) == isAboutMemory)
  }
}

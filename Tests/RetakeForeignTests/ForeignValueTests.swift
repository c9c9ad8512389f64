import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeForeign

@Suite struct ForeignValueTests {
  @Test func `scalars keep the order of the program`() throws {
    let json = JSONValue.object([
      "scalars": .array([.object(["name": .string("b"), "value": .integer(1)])])
    ])
    let value = try ForeignOutput.scalars.value(json, classNames: [])
    #expect((value as? Scalars)?.entries == [Scalars.Entry("b", 1)])
  }
}

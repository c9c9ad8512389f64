import Foundation
import RetakeCore
import Testing

/// Figures shown as text are also in the JSON.
@Suite struct RunCountsTests {
  @Test func `a screen's JSON has the mean latency that text shows, and can be read again`() throws
  {
    var screen = ScreenCounts(sink: "screen")
    (screen.shown, screen.repeats, screen.unseen) = (4, 1, 2)
    (screen.latencySum, screen.latencyMax) = (80_000_000, 33_000_000)
    let data = try JSONEncoder().encode(screen)
    let json = try JSONValue(parsing: data)
    #expect(json["latencyMean"] == .integer(20_000_000))
    #expect(json["latencyMax"] == .integer(33_000_000))
    #expect(try JSONDecoder().decode(ScreenCounts.self, from: data) == screen)
  }
}

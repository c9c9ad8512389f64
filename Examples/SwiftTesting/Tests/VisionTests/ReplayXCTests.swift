import RetakeXCTest
import Vision
import XCTest

// docs/swift-testing.md
final class ReplayXCTests: XCTestCase {
  func testReplays() {
    XCTAssertReplay(
      suite: "quick", report: ".build/xctest-replays", stages: { $0.register(BrightPixels.self) },
      pipelines: [bright])
  }
}
// end

import Foundation
import RetakeXCTest
import XCTest

/// A user's test. It passes here, on Retake's own recordings; `XCTAssertReplayTests` runs it again
/// in processes of their own, in which it has to fail.
final class PlantedXCTests: XCTestCase {
  static let projectVariable = "RETAKE_PLANTED_PROJECT"
  static let reportVariable = "RETAKE_PLANTED_REPORT"

  func testReplays() {
    let environment = ProcessInfo.processInfo.environment
    if let project = environment[Self.projectVariable] {
      XCTAssertReplay(project: project, report: environment[Self.reportVariable])
    } else {
      XCTAssertReplay("figures/motion")
    }
  }
}

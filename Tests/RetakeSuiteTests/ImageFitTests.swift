import Foundation
import RetakeGolden
import RetakeTestProjects
import RetakeTestSupport
import Testing

@testable import RetakeSuite

@Suite struct ImageFitTests {
  @Test func `images that differ are answered with the limits to write`() throws {
    let fixture = try ProjectFixture(
      "v: 1\ncases:\n  left: {pipeline: left.json}\n  right: {pipeline: right.json}\n")
    try fixture.record("yard")
    for (name, x) in [("left", 0), ("right", 24)] {
      try fixture.folder.write(
        """
        {"v": 1, "name": "view",
         "nodes": [
          {"id": "camera", "kind": "session"},
          {"id": "cut", "kind": "crop", "options": {"x": \(x), "width": 48}},
          {"id": "view", "kind": "results"}],
         "edges": [{"from": "camera", "to": "cut"}, {"from": "cut", "to": "view"}]}
        """, to: "\(name).json")
    }
    _ = try fixture.test()
    _ = try fixture.accept()
    let folders = ["left", "right"].map { GoldenFolder(fixture.folder.file("Goldens/yard/\($0)")) }
    let manifest = try folders[0].manifest()
    #expect(try GoldenFit.fit(folders[0], manifest, [("same", folders[0])]).1.isEmpty == false)
    let error = #expect(throws: SuiteError.self) {
      try GoldenFit.fit(folders[0], manifest, [("other", folders[1])])
    }
    #expect(error?.facts.code == "suite.fit.notNumbers")
    #expect(error?.facts.advice?.hasPrefix("The limits of images are not fitted.") == true)
  }
}

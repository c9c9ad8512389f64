import Foundation

/// A project of 50 cases on ten short recordings, with accepted goldens. Seven of them fail when
/// `plant()` was called: four at the node `motion`, three at `fingertip`.
package struct FiftyCases {
  package static let count = 50
  package static let framesPerCase = 8
  /// The cases that `plant` changes.
  package static let planted = [
    "s0/moved", "s1/moved", "s2/moved", "s3/moved", "s4/skin", "s5/skin", "s6/skin",
  ]

  private static let document = """
    v: 1
    cases:
      a: {pipeline: a.json}
      b: {pipeline: b.json}
      c: {pipeline: c.json}
      d: {pipeline: d.json}
      moved: {pipeline: moved.json}
      skin: {pipeline: skin.json}
      still: {pipeline: still.json}
    suites:
      default:
        - {sessions: ["s*"], cases: [a, b, c, d]}
        - {sessions: [s0, s1, s2, s3], cases: [moved]}
        - {sessions: [s4, s5, s6], cases: [skin]}
        - {sessions: [s7, s8, s9], cases: [still]}
      none:
        - {sessions: ["nothing-*"], cases: [a]}
    """

  package let fixture: ProjectFixture
  package var folder: URL { fixture.folder.url }

  package init() throws {
    fixture = try ProjectFixture(Self.document)
    for (name, threshold) in [("a", 16), ("b", 20), ("c", 24), ("d", 28), ("still", 32)] {
      try write(motion: threshold, to: name)
    }
    try write(motion: 24, to: "moved")
    try write(skin: 50)
    for number in 0..<10 {
      try fixture.record("s\(number)", frames: Self.framesPerCase, seed: number + 1)
    }
    _ = try fixture.test { $0.jobs = 2 }
    _ = try fixture.accept()
  }

  /// Changes two pipelines, as a developer would.
  package func plant() throws {
    try write(motion: 60, to: "moved")
    try write(skin: 20)
  }

  private func write(motion threshold: Int, to name: String) throws {
    let pipeline = ProjectFixture.pipeline.replacing(
      "\"threshold\": 24", with: "\"threshold\": \(threshold)")
    try fixture.folder.write(pipeline, to: "\(name).json")
  }

  private func write(skin percent: Int) throws {
    try fixture.folder.write(
      """
      {"v": 1, "name": "skin",
       "nodes": [
        {"id": "camera", "kind": "session"},
        {"id": "fingertip", "kind": "fingertip", "options": {"percent": \(percent)}},
        {"id": "means", "kind": "results", "primary": true}],
       "edges": [
        {"from": "camera", "to": "fingertip"}, {"from": "fingertip", "to": "means"}]}
      """, to: "skin.json")
  }
}

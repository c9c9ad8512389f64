import Foundation
import Retake
import RetakeTestSupport
import Testing

/// Frames in place of a session's: `--source` of `replay` and `test`.
@Suite struct SourceOptionTests {
  private let workplace: Workplace

  init() throws {
    workplace = try Workplace()
    for number in 0..<4 { try draw(number, level: UInt8(40 + 20 * number)) }
  }

  private func draw(_ number: Int, level: UInt8) throws {
    let frame = Frame(
      format: .rgb, width: 64, height: 48, planes: [[UInt8](repeating: level, count: 64 * 48 * 3)])
    let file = workplace.folder.file("Faces/\(number).png")
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(MediaImage.png(frame)).write(to: file)
  }

  @Test func `a pipeline of a session reads images and scenes instead`() throws {
    for (source, count, name) in [
      ("images:Faces", 4, "images-Faces"),
      ("images:Faces/2.png,fps=10", 1, "images-Faces-2.png-fps-10"),
      ("synthetic:figures,frames=12,width=64,height=48", 12, nil),
    ] {
      let result = try workplace.retake(
        "replay", "--pipeline", "example:motion-boxes", "--source", source, "--json")
      #expect(result.status == 0, "\(result.stderr)")
      let summary = try result.json()
      #expect(summary.frames.captured.int == count, "\(source)")
      if let name { #expect(summary.session.text == name) }
    }
  }

  @Test func `a case on images has a golden of its own, which notices another image`() throws {
    func test() throws -> CommandResult {
      try workplace.retake(
        "test", "--pipeline", "example:motion-boxes", "--source", "images:Faces")
    }
    let first = try test()
    #expect(first.status == 3, "\(first.stdout)\(first.stderr)")
    let command = "retake replay --pipeline example:motion-boxes --source images:Faces"
    #expect(first.stdout.contains(command), "\(first.stdout)")
    let accepted = try workplace.retake(
      "accept", "images-Faces/motion-boxes", "--reason", "the first one")
    #expect(accepted.status == 0, "\(accepted.stderr)")
    #expect(try test().status == 0)
    try FileManager.default.removeItem(at: workplace.folder.file("Faces/3.png"))
    let changed = try test()
    #expect([1, 5].contains(changed.status), "\(changed.stdout)")
  }

  @Test func `a pipeline whose own source has the frames is one case without a session`() throws {
    try workplace.folder.write(
      """
      {"v": 1, "name": "stills",
       "nodes": [{"id": "camera", "kind": "images", "options": {"path": "Faces"}},
        {"id": "grey", "kind": "grey"}, {"id": "light", "kind": "luminance"},
        {"id": "values", "kind": "results"}],
       "edges": [{"from": "camera", "to": "grey"}, {"from": "grey", "to": "light"},
        {"from": "light", "to": "values"}]}
      """, to: "stills.json")
    let test = ["test", "--pipeline", "stills.json"]
    let first = try workplace.retake(words: test)
    #expect(first.status == 3, "\(first.stdout)\(first.stderr)")
    #expect(first.stdout.contains("missing  own/stills"), "\(first.stdout)")
    #expect(first.stdout.contains("retake replay --pipeline stills.json\n"), "\(first.stdout)")
    for name in ["yard", "slot"] { try workplace.record(name, frames: 2, size: "64x48") }
    #expect(try workplace.retake("accept", "own/stills", "--reason", "the first one").status == 0)
    let again = try workplace.retake(words: test)
    #expect(again.status == 0, "\(again.stdout)\(again.stderr)")
    #expect(again.stdout.contains("1 passed · 1 case · 4 frames compared"), "\(again.stdout)")
  }

  @Test func `what --source cannot do is said with what to write`() throws {
    try workplace.record("yard", frames: 4, size: "64x48")
    try workplace.folder.write(
      """
      {"v": 1, "name": "own",
       "nodes": [{"id": "camera", "kind": "synthetic"}, {"id": "light", "kind": "luminance"},
        {"id": "values", "kind": "results"}],
       "edges": [{"from": "camera", "to": "light"}, {"from": "light", "to": "values"}]}
      """, to: "own.json")
    for (words, text) in [
      (["replay", "yard"], "leave out the session 'yard'"),
      (["replay", "--track", "1"], "--track goes with a session"),
      (["replay", "--costs", "timings"], "write --costs timings:FILE"),
      (["test", "yard"], "leave out the session 'yard'"),
    ] {
      let result = try workplace.retake(
        words: words + ["--pipeline", "example:motion-boxes", "--source", "images:Faces"])
      #expect(result.status == 64 && result.stderr.contains(text), "\(result.stderr)")
    }
    for (source, pipeline, code) in [
      ("images:Faces,nosuch=3", "example:motion-boxes", "[suite.source.bad]"),
      ("synthetic:nosuch", "example:motion-boxes", "[suite.source.bad]"),
      ("images:Faces", "own.json", "[suite.source.noSession]"),
      ("images:Nowhere", "example:motion-boxes", "[stages.images.notFound]"),
    ] {
      let result = try workplace.retake(
        "replay", "--pipeline", pipeline, "--source", source)
      #expect(result.status != 0 && result.stderr.contains(code), "\(result.stderr)")
    }
    for source in ["Faces", "images:", "camera:0", "images:Faces,fps=1,fps=2"] {
      let result = try workplace.retake(
        "replay", "--pipeline", "example:motion-boxes", "--source", source)
      #expect(result.status == 64 && result.stderr.contains("Write one of: images:PATH"))
    }
  }
}

import Foundation
import RetakeTestSupport
import Testing

/// docs/stored-detections.md, and the file of a `detections` node as an input of cases.
@Suite struct StoredPageTests {
  private let workplace: Workplace

  init() throws { workplace = try Workplace() }

  @Test func `the page can be followed from nothing, and prints what it shows`() throws {
    var (output, commands, shown) = ("", 0, 0)
    for block in try PageBlock.blocks(of: "docs/stored-detections.md") {
      switch block.language {
      case "sh":
        output = try block.lines.map { line in
          let words = line.split(separator: " ").dropFirst().map(String.init)
          let result = try workplace.retake(words: words)
          #expect(result.status == 0, "\(line): \(result.stdout)\(result.stderr)")
          return result.stdout
        }.joined()
        commands += block.lines.count
      case "":
        #expect(PageBlock.missing(block.lines, in: output) == [], "\(output)")
        shown += block.lines.count
      case "json": try workplace.folder.write(block.text, to: try #require(block.file))
      default: #expect(block.language == "swift")
      }
    }
    #expect(commands == 4 && shown == 3)
    let (stored, twin) = try (result("Stored"), result("Twin"))
    #expect(stored == twin, "bit for bit")
  }

  private func result(_ run: String) throws -> String {
    let text = try String(contentsOf: workplace.folder.file("\(run)/golden.yml"), encoding: .utf8)
    return try #require(text.firstMatch(of: #/resultDigest: ([0-9a-f]{32})/#).map { String($0.1) })
  }

  // MARK: The file as an input

  private func write(_ options: String) throws {
    try workplace.folder.write(
      """
      {"v": 1, "name": "watch",
       "nodes": [
        {"id": "camera", "kind": "session"},
        {"id": "found", "kind": "detections", "options": {\(options)}},
        {"id": "boxes", "kind": "results", "primary": true}],
       "edges": [{"from": "camera", "to": "found"}, {"from": "found", "to": "boxes"}]}
      """, to: "watch.json")
  }

  private func test() throws -> CommandResult {
    try workplace.retake("test", "yard", "--pipeline", "watch.json")
  }

  @Test func `a golden names the file's digest, and a changed file is the cause of a difference`()
    throws
  {
    try workplace.record("yard", frames: 6)
    try workplace.folder.write("1,-1,5,5,20,20,0.5\n4,-1,6,5,20,20,0.5\n", to: "boxes.txt")
    try write(#""file": "boxes.txt", "classNames": ["person"]"#)
    #expect(try test().status == 3)
    #expect(try workplace.retake("accept", "--reason", "first").status == 0)
    let again = try test()
    #expect(again.status == 0, "\(again.stdout)\(again.stderr)")
    let golden = try String(
      contentsOf: workplace.folder.file("Goldens/yard/watch/golden.yml"), encoding: .utf8)
    let digest = try runCommand(
      "sha256sum", arguments: ["boxes.txt"], folder: workplace.folder.url
    ).stdout.prefix(64)
    #expect(golden.contains("\nmodels: {}\nfiles: {boxes.txt: \(digest)}\n"), "\(golden)")
    // The platform has no class of kernels: no library of models computed anything.
    let names = try FileManager.default.contentsOfDirectory(
      atPath: workplace.folder.file("Goldens/yard/watch").path)
    #expect(!names.contains { $0.contains("-avx") }, "\(names)")

    try workplace.folder.write("1,-1,5,5,20,20,0.5\n4,-1,9,5,20,20,0.5\n", to: "boxes.txt")
    let changed = try test()
    #expect(changed.status == 1)
    #expect(
      changed.stdout.contains("the file boxes.txt changed: sha256 "), "\(changed.stdout)")
    #expect(changed.stdout.contains("(a file of stored results changed)"), "\(changed.stdout)")
    #expect(changed.stdout.contains("the golden has \(digest.prefix(12))…"), "\(changed.stdout)")
  }

  @Test func `a result of a file that changed since the test is not accepted`() throws {
    try workplace.record("yard", frames: 6)
    let (old, new) = ("1,-1,5,5,20,20,0.5\n", "1,-1,9,5,20,20,0.5\n")
    try workplace.folder.write(old, to: "boxes.txt")
    try write(#""file": "boxes.txt""#)
    #expect(try test().status == 3)
    try workplace.folder.write(new, to: "boxes.txt")
    let refused = try workplace.retake("accept", "--reason", "first")
    #expect(refused.status == 2)
    #expect(refused.stderr.contains("is of other files than now: boxes.txt"), "\(refused.stderr)")
    try workplace.folder.write(old, to: "boxes.txt")
    #expect(try workplace.retake("accept", "--reason", "first").status == 0)
  }

  @Test func `a file that cannot be used ends the command with its place`() throws {
    try workplace.record("yard", frames: 6)
    let outside = try TemporaryFolder()
    try outside.write("1,-1,5,5,20,20,0.5\n", to: "boxes.txt")
    for (text, code, said) in [
      ("1,-1,5,5,20,20,0.5\n2,-1,5\n", "stages.detections.line", "line 2: 3 columns"),
      ("7,-1,5,5,20,20,0.5\n", "stages.detections.frames", "line 1: the frame 7 is after"),
      ("1,-1,500,5,20,20,0.5\n", "detections.outside", "line 1: no pixel of the frame 0:0"),
    ] {
      try workplace.folder.write(text, to: "boxes.txt")
      try write(#""file": "boxes.txt""#)
      let result = try workplace.retake("replay", "yard", "--pipeline", "watch.json")
      #expect(result.status == 2, "\(result.stdout)\(result.stderr)")
      let output = result.stdout + result.stderr
      #expect(output.contains(said), "\(output)")
      #expect(output.contains(code), "\(output)")
    }
    try write("\"file\": \"\(outside.file("boxes.txt").path)\"")
    let words = ["replay", "yard", "--pipeline", "watch.json"]
    let refused = try workplace.retake(words: words)
    #expect(refused.status == 2 && refused.stderr.contains("--allow-outside"), "\(refused.stderr)")
    #expect(try workplace.retake(words: words + ["--allow-outside"]).status == 0)
  }

  @Test func `diff --base reads the file of the revision`() throws {
    try workplace.record("yard", frames: 6)
    try workplace.folder.write("v: 1\ncases: {watch: {pipeline: watch.json}}\n", to: "retake.yml")
    try workplace.folder.write("1,-1,5,5,20,20,0.5\n", to: "boxes.txt")
    try write(#""file": "boxes.txt""#)
    try workplace.git("init", "-q")
    try workplace.git("add", ".")
    try workplace.git("commit", "-q", "-m", "first")
    let same = try workplace.retake("diff", "--base", "HEAD")
    #expect(same.status == 0, "\(same.stdout)\(same.stderr)")
    try workplace.folder.write("1,-1,9,5,20,20,0.5\n", to: "boxes.txt")
    let changed = try workplace.retake("diff", "--base", "HEAD")
    #expect(changed.status == 1, "\(changed.stdout)\(changed.stderr)")
    #expect(changed.stdout.contains("the file boxes.txt changed"), "\(changed.stdout)")
    try workplace.folder.write("1,-1,9,5,20,20,0.5\n", to: "new.txt")
    try write(#""file": "new.txt""#)
    try workplace.git("commit", "-q", "-a", "-m", "second")
    let absent = try workplace.retake("diff", "--base", "HEAD")
    #expect(absent.stdout.contains("new.txt (not in HEAD)"), "\(absent.stdout)")
  }
}

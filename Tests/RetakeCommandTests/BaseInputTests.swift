import Foundation
import RetakeProcess
import RetakeTestSupport
import Testing

/// `retake diff --base` and the files that cases read besides their pipelines.
@Suite(.enabled(if: ChildProcess.path(of: "python3") != nil, SkipReason.noPython), .oneAtATime)
struct BaseInputTests {
  private static let program =
    StageProgram.conversation + """
      from counter import factor
      while True:
          message = receive()
          if "hello" in message:
              send({"ready": {"v": 1, "name": "watch", "version": 1, "output": "scalars",
                              "state": "pure", "formats": ["GRAY8"]}})
          elif "frame" in message:
              value = factor() * (1 + message["frame"]["sequence"])
              send({"sequence": message["frame"]["sequence"],
                    "value": {"scalars": [{"name": "count", "value": value}]}})
          elif "bye" in message:
              sys.exit(0)

      """

  /// The same as a complete program with a single sink.
  private static let whole =
    StageProgram.conversation + """
      from counter import factor
      while True:
          message = receive()
          if "hello" in message:
              send({"ready": {"v": 1, "name": "whole", "version": 1, "output": "program",
                              "state": "stateful", "formats": ["GRAY8"],
                              "sinks": {"counts": "scalars"}}})
          elif "reset" in message:
              send({"reset": message["reset"]})
          elif "frame" in message:
              number = message["frame"]["sequence"]
              send({"out": {"sink": "counts", "sequence": number,
                            "value": {"scalars": [{"name": "count", "value": factor() * number}]}}})
              send({"done": number})
          elif "bye" in message:
              sys.exit(0)

      """

  private static func document(_ command: [String]) -> String {
    """
    {"v": 1, "name": "watch",
     "nodes": [
      {"id": "camera", "kind": "session"},
      {"id": "watch", "kind": "process", "cost": {"fixed": "5ms"},
       "options": {"command": \(command), "output": "scalars"}},
      {"id": "counts", "kind": "results", "primary": true}],
     "edges": [{"from": "camera", "to": "watch"}, {"from": "watch", "to": "counts"}]}
    """
  }

  /// A repository whose one case runs `watch.py`, which imports `counter.py`.
  private func repository(
    command: [String] = ["python3", "watch.py"], rest: String = ""
  ) throws -> Workplace {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 6, size: "64x48")
    try workplace.folder.write(Self.document(command), to: "watch.json")
    try workplace.folder.write(Self.program, to: "watch.py")
    try workplace.folder.write("def factor(): return 1\n", to: "counter.py")
    try workplace.folder.write(
      "v: 1\nallow: {processes: [\(command[0])]}\ncases:\n  count: {pipeline: watch.json\(rest)}\n",
      to: "retake.yml")
    try workplace.folder.write("Recordings/\n.retake/\n__pycache__/\nlocal/\n", to: ".gitignore")
    try workplace.git("init", "-q", "-b", "main")
    try workplace.git("add", ".")
    try workplace.git("commit", "-q", "-m", "first")
    return workplace
  }

  private func diff(_ workplace: Workplace) throws -> CommandResult {
    // Without byte code: Python knows a changed module by its second and its size.
    try workplace.retake(
      words: ["diff", "--base", "HEAD"], environment: ["PYTHONDONTWRITEBYTECODE": "1"])
  }

  @Test func `a changed module of a program is a difference from the revision`() throws {
    let workplace = try repository()
    let same = try diff(workplace)
    #expect(same.status == 0, "\(same.stdout)\(same.stderr)")
    try workplace.folder.write("def factor(): return 1 + 1\n", to: "counter.py")
    let before = try workplace.listing()
    let changed = try diff(workplace)
    #expect(changed.status == 1, "\(changed.stdout)\(changed.stderr)")
    #expect(try workplace.listing() == before)
  }

  @Test func `a whole program of the revision is compared with the working tree's`() throws {
    let workplace = try repository()
    try workplace.folder.write(
      "v: 1\nallow: {processes: [python3]}\ncases:\n  count: {program: python3 whole.py}\n",
      to: "retake.yml")
    try workplace.folder.write(Self.whole, to: "whole.py")
    try workplace.git("add", ".")
    try workplace.git("commit", "-q", "-m", "whole")
    let same = try diff(workplace)
    #expect(same.status == 0, "\(same.stdout)\(same.stderr)")
    try workplace.folder.write("def factor(): return 1 + 1\n", to: "counter.py")
    let changed = try diff(workplace)
    #expect(changed.status == 1, "\(changed.stdout)\(changed.stderr)")
  }

  @Test func `a program that the revision does not have is named, and the case does not pass`()
    throws
  {
    let workplace = try repository(command: ["local/tool"])
    try workplace.folder.write(
      "#!/usr/bin/env python3\nimport os, sys\nsys.path.insert(0, os.getcwd())\n" + Self.program,
      to: "local/tool")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: workplace.folder.file("local/tool").path)
    let result = try diff(workplace)
    #expect(result.status == 5, "\(result.stdout)\(result.stderr)")
    #expect(
      result.stdout.contains(
        "these files differ from HEAD and were not taken from it: local/tool (not in HEAD)"),
      "\(result.stdout)")
    #expect(!result.stdout.contains("passed"), "\(result.stdout)")
  }

  @Test func `a profile is the revision's, and one that it does not have is named`() throws {
    let workplace = try repository(rest: ", costs: 'profile:slow.json'")
    let slow = #"{"v": 1, "name": "slow", "scale": {"watch": 2.5}}"#
    try workplace.folder.write(slow, to: "slow.json")
    let absent = try diff(workplace)
    #expect(absent.status == 5, "\(absent.stdout)\(absent.stderr)")
    #expect(absent.stdout.contains("slow.json (not in HEAD)"), "\(absent.stdout)")
    try workplace.git("add", ".")
    try workplace.git("commit", "-q", "-m", "profile")
    #expect(try diff(workplace).status == 0)
    try workplace.folder.write(slow.replacing("2.5", with: "9"), to: "slow.json")
    let other = try diff(workplace)
    #expect(other.status == 5, "\(other.stdout)\(other.stderr)")
    #expect(other.stdout.contains("another choice of costs"), "\(other.stdout)")
  }

  @Test func `a case that the revision defines otherwise does not pass`() throws {
    let workplace = try repository()
    try workplace.folder.write(
      "v: 1\nallow: {processes: [python3]}\n"
        + "cases:\n  count: {pipeline: watch.json, mode: simulate}\n", to: "retake.yml")
    let result = try diff(workplace)
    #expect(result.status == 5, "\(result.stdout)\(result.stderr)")
    #expect(
      result.stdout.contains("retake.yml (another case 'count' there)"), "\(result.stdout)")
  }

  @Test(.enabled(if: ModelCommandTests.hasLibrary, ModelCommandTests.reason))
  func `models and sidecars are the revision's`() throws {
    let workplace = try repository()
    try workplace.folder.write("v: 1\ncases: {faces: {pipeline: faces.json}}\n", to: "retake.yml")
    try workplace.folder.write(
      """
      {"v": 1, "name": "faces",
       "nodes": [
        {"id": "camera", "kind": "session"},
        {"id": "faces", "kind": "detect", "options": {"model": "models/boxes.onnx"}},
        {"id": "boxes", "kind": "results", "primary": true}],
       "edges": [{"from": "camera", "to": "faces"}, {"from": "faces", "to": "boxes"}]}
      """, to: "faces.json")
    let sidecar = OnnxModelFile.squaresSidecar.replacing("0.25", with: "0.01")
    try workplace.folder.write(sidecar, to: "models/boxes.model.json")
    try OnnxModelFile.squares.write(to: workplace.folder.file("models/boxes.onnx"))
    try workplace.git("add", ".")
    try workplace.git("commit", "-q", "-m", "model")
    let same = try diff(workplace)
    #expect(same.status == 0, "\(same.stdout)\(same.stderr)")

    try workplace.folder.write(
      sidecar.replacing("0.01", with: "0.99"), to: "models/boxes.model.json")
    let changed = try diff(workplace)
    #expect(changed.status == 1, "\(changed.stdout)\(changed.stderr)")

    try workplace.folder.write(sidecar, to: "models/boxes.model.json")
    try workplace.git("rm", "-q", "--cached", "models/boxes.onnx")
    try workplace.git("commit", "-q", "-m", "without")
    let absent = try diff(workplace)
    #expect(absent.status == 5, "\(absent.stdout)\(absent.stderr)")
    #expect(absent.stdout.contains("models/boxes.onnx (not in HEAD)"), "\(absent.stdout)")

    let digest = try runCommand(
      "sha256sum", arguments: ["models/boxes.onnx"], folder: workplace.folder.url
    ).stdout.prefix(64)
    try workplace.folder.write(
      sidecar.replacing("\"v\": 1,", with: "\"v\": 1, \"sha256\": \"\(digest)\","),
      to: "models/boxes.model.json")
    try workplace.git("commit", "-q", "-a", "-m", "pinned")
    let pinned = try diff(workplace)
    #expect(pinned.status == 0, "its sidecar names it: \(pinned.stdout)\(pinned.stderr)")

    try workplace.folder.write(
      "version https://git-lfs.github.com/spec/v1\noid sha256:\(digest)\nsize 1\n",
      to: "models/pointer.onnx")
    try workplace.folder.write(sidecar, to: "models/pointer.model.json")
    try workplace.folder.write(
      try String(contentsOf: workplace.folder.file("faces.json"), encoding: .utf8)
        .replacing("boxes.onnx", with: "pointer.onnx"), to: "faces.json")
    try workplace.git("add", ".")
    try workplace.git("commit", "-q", "-m", "pointer")
    try FileManager.default.removeItem(at: workplace.folder.file("models/pointer.onnx"))
    try FileManager.default.copyItem(
      at: workplace.folder.file("models/boxes.onnx"),
      to: workplace.folder.file("models/pointer.onnx"))
    let fetched = try diff(workplace)
    #expect(fetched.status == 0, "the file is the pointer's: \(fetched.stdout)\(fetched.stderr)")
  }
}

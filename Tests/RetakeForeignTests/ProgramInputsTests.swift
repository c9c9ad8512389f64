import Foundation
import RetakeCore
import RetakeProcess
import RetakeTestSupport
import Testing

@testable import RetakeForeign

@Suite struct ProgramInputsTests {
  private func inputs(
    _ command: [String], in folder: TemporaryFolder, searched: String? = nil
  ) -> ProgramInputs {
    var program = ForeignProgram(command: command, output: .scalars)
    program.folder = folder.url.path
    return ProgramInputs(of: program, searched: searched)
  }

  @Test func `a folder that the command names has a digest of its files`() throws {
    let folder = try TemporaryFolder()
    try folder.write("180", to: "models/level")
    try folder.write("a", to: "models/deep/first")
    let command = ["python3", "detect.py", "--models=models"]
    let first = inputs(command, in: folder)
    #expect(Set(first.digests.keys) == ["models"])
    #expect(inputs(command, in: folder) == first)
    // Caches of tools are no part of it.
    try folder.write("b", to: "models/.git/head")
    try folder.write("b", to: "models/__pycache__/level.pyc")
    #expect(inputs(command, in: folder) == first)
    try folder.write("250", to: "models/level")
    let changed = inputs(command, in: folder)
    #expect(changed.digests["models"] != first.digests["models"])
    try FileManager.default.moveItem(
      at: folder.file("models/deep/first"), to: folder.file("models/deep/second"))
    #expect(inputs(command, in: folder).digests["models"] != changed.digests["models"])
    #expect(inputs(["python3", "."], in: folder).digests.isEmpty, "the project's folder")
  }

  @Test func `a folder of many files is known by their sizes and times`() throws {
    let folder = try TemporaryFolder()
    for number in 0...1_000 { try folder.write("\(number)", to: "images/\(number).png") }
    let first = inputs(["./detect", "images"], in: folder)
    #expect(first.digests.isEmpty && first.facts["images"] != nil)
    try folder.write("12", to: "images/7.png")
    #expect(inputs(["./detect", "images"], in: folder).facts["images"] != first.facts["images"])
  }

  @Test func `a program in PATH has a digest, and an interpreter is the machine's`() throws {
    let folder = try TemporaryFolder()
    for name in ["detector", "python3"] { try folder.write("1", to: "bin/\(name)") }
    func found(_ name: String) -> ProgramInputs {
      inputs([name], in: folder, searched: folder.file("bin/\(name)").path)
    }
    let (detector, python) = (found("detector"), found("python3"))
    #expect(Set(detector.digests.keys) == ["detector"] && detector.facts.isEmpty)
    #expect(python.digests.isEmpty && python.facts.count == 1)
    for name in ["detector", "python3"] { try folder.write("2", to: "bin/\(name)") }
    #expect(found("detector") != detector)
    #expect(found("python3") == python, "an update of the same size is not seen")
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/exe"), "there is no /proc"))
  func `a program that a script has started has a digest`() throws {
    let folder = try TemporaryFolder()
    let sleep = try #require(ChildProcess.path(of: "sleep"))
    let tool = folder.file("tool")
    try FileManager.default.copyItem(atPath: sleep, toPath: tool.path)
    func loaded(_ executable: String) throws -> ProgramInputs {
      let process = try ChildProcess(ChildProcess.Request(executable, ["600"]))
      defer { process.send(SIGKILL) }
      return ProgramInputs(loadedBy: [process.id], in: folder.url.path)
    }
    let first = try loaded(tool.path)
    #expect(Set(first.digests.keys) == ["tool"])
    #expect(try loaded(sleep).digests.isEmpty, "a program of the system")
    // A program that runs cannot be written, but replaced.
    let content = try Data(contentsOf: tool)
    try FileManager.default.removeItem(at: tool)
    try (content + Data([0])).write(to: tool)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tool.path)
    #expect(try loaded(tool.path).digests["tool"] != first.digests["tool"])
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/exe"), "there is no /proc"))
  func `Python's libraries count by their sizes, and other libraries have a digest`() throws {
    let (folder, root) = (try TemporaryFolder(), try TemporaryFolder())
    let library = try #require(Self.systemLibrary)
    let names = ["libpython3.14.so.1.0", "python3.14/lib-dynload/_json.so", "libdetector.so"]
    let paths = names.map { folder.file("lib/\($0)").path }
    try FileManager.default.createDirectory(
      at: folder.file("lib/python3.14/lib-dynload"), withIntermediateDirectories: true)
    for path in paths { try FileManager.default.copyItem(atPath: library, toPath: path) }
    let output = try ChildPipe()
    // Its line shows that it has loaded them.
    var request = ChildProcess.Request("/bin/sh", ["-c", "echo; kill -STOP $$"])
    request.environment = ["LD_PRELOAD": paths.joined(separator: ":")]
    request.output = .pipe(output)
    let process = try ChildProcess(request)
    defer { process.send(SIGKILL) }
    #expect(output.read(atMost: 1) == [UInt8(ascii: "\n")])
    let found = ProgramInputs(loadedBy: [process.id], in: root.url.path)
    let size = try RegularFile.facts(of: library, links: .followed).bytes
    #expect(paths.prefix(2).map { found.facts[$0] } == ["\(size)", "\(size)"])
    #expect(found.facts[paths[2]]?.contains("contents") == true)
    #expect(found.digests.isEmpty)
  }

  /// A small library that this process has loaded, too.
  private static var systemLibrary: String? {
    let maps = SystemFile.text("/proc/self/maps") ?? ""
    return maps.split(separator: "\n").compactMap { $0.split(separator: " ").last.map(String.init) }
      .first { $0.contains("/libm.so") || $0.contains("/libm-") }
  }
}

import Foundation
import Retake
import RetakeTestSupport
import Testing

/// Programs in C that are linked with libretake.
@Suite(.enabled(if: BuiltLibrary.isBuilt, BuiltLibrary.reason))
struct EmbedderTests {
  @Test func `the library is as new as the code`() throws {
    #expect(try BuiltLibrary.isCurrent(), "type: make libretake")
  }

  @Test func `the header is C and C++, and pkg-config finds the library`() throws {
    for language in [["-xc", "-std=c99"], ["-xc++", "-std=c++11"]] {
      let result = try runCommand(
        "clang",
        arguments: language + [
          "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-pragma-once-outside-header",
          BuiltLibrary.folder.appending(path: "retake.h").path,
        ])
      #expect(result.status == 0, "\(result.stderr)")
    }
    let flags = try runCommand(
      "pkg-config", arguments: ["--cflags", "--libs", "retake"],
      environment: ["PKG_CONFIG_PATH": BuiltLibrary.folder.path])
    #expect(flags.stdout.contains("-lretake") && flags.stdout.contains("libretake"))
  }

  @Test func `every wrong call is an error, and each frame is released once`() throws {
    let folder = try TemporaryFolder()
    let program = try BuiltLibrary.compile(BuiltLibrary.embedder("misuse"), in: folder)
    let result = try runCommand(program.path, arguments: ["40"])
    #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
    #expect(result.stdout == "40 rounds, 60 frames, 60 released\n0 failures\n")
  }

  @Test func `a check of the program fails when it must`() throws {
    let folder = try TemporaryFolder()
    let text = try String(contentsOf: BuiltLibrary.embedder("misuse"), encoding: .utf8)
    let planted = text.replacingOccurrences(
      of: "REFUSED(RETAKE_ERROR_HANDLE, retake_pipeline_destroy(pipeline));",
      with: "REFUSED(RETAKE_ERROR_STOPPED, retake_pipeline_destroy(pipeline));")
    #expect(planted != text)
    let source = try folder.write(planted, to: "planted.c")
    let program = try BuiltLibrary.compile(
      source, in: folder,
      options: ["-I", BuiltLibrary.embedder("misuse").deletingLastPathComponent().path])
    let result = try runCommand(program.path, arguments: ["1"])
    #expect(result.status == 1)
    #expect(result.stderr.contains("RETAKE_ERROR_HANDLE, not RETAKE_ERROR_STOPPED"))
  }

  @Test func `the program that measures latency runs`() throws {
    let folder = try TemporaryFolder()
    let program = try BuiltLibrary.compile(BuiltLibrary.embedder("latency"), in: folder)
    for form in ["lend", "copy"] {
      let result = try runCommand(program.path, arguments: ["20", "64", "48", form])
      #expect(result.status == 0, "\(result.stderr)")
      #expect(result.stdout.contains("20 frames: push to result p50 "))
    }
  }

  @Test func `the guide's C program finds in pushed frames what a replay finds`() throws {
    let folder = try TemporaryFolder()
    let block = try #require(try Guide.blocks("c").first)
    let program = try BuiltLibrary.compile(try folder.write(block, to: "watch.c"), in: folder)
    let result = try runCommand(program.path, input: try Figures.frames())
    #expect(result.status == 0, "\(result.stderr)")
    let lines = result.stdout.split(separator: "\n").map(String.init)
    #expect(lines.last == "300 of 300 frames delivered")

    let pipeline = Pipeline.named("watch").source(.session()).gray().motion().results("boxes")
    let session = try SessionReader(opening: Figures.session.path)
    let replay = try Replay(
      pipeline, reader: session, catalog: StageRegistry.builtIn,
      request: Replay.Request(caseName: "watch"))
    let boxes = Boxes()
    _ = try replay.run(observers: [boxes])
    #expect(boxes.lines.count > 100)
    #expect(Array(lines.dropLast()) == boxes.lines)
  }
}

/// The boxes of a replay, as the guide's program prints them.
private final class Boxes: RunObserver {
  var lines: [String] = []

  func finished(_ frame: FinishedFrame) {
    for case .facts(let facts) in frame.result.outcomes.map(\.content) {
      for case .detection(let found) in facts {
        let numbers = [found.box.x, found.box.y, found.box.width, found.box.height]
          .map { String(format: "%.0f", $0) }
        lines.append("frame \(frame.result.id.sequence): \(numbers.joined(separator: " "))")
      }
    }
  }
}

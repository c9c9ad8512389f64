import Foundation
import RetakeTestSupport
import Testing

/// The misuse of libretake under the address sanitizer, which finds memory that is read or freed
/// twice, and pixels that leak. The short form runs with all tests, 10,000 rounds with
/// `RETAKE_FAULTS=long`.
@Suite(.enabled(if: BuiltLibrary.isBuilt, BuiltLibrary.reason))
struct LibraryFaultTests {
  private static let isLong = ProcessInfo.processInfo.environment["RETAKE_FAULTS"] == "long"
  private static let hasSanitizer = Result {
    let folder = try TemporaryFolder()
    let source = try folder.write("int main(void) { return 0; }\n", to: "empty.c")
    let program = folder.file("empty").path
    let made = try runCommand(
      "clang", arguments: ["-fsanitize=address", source.path, "-o", program])
    return try made.status == 0 && runCommand(program).status == 0
  }
  private static let reason: Comment = "the toolchain has no address sanitizer that runs here"

  private func run(
    _ source: URL, rounds: Int, in folder: TemporaryFolder
  ) throws -> CommandResult {
    let program = try BuiltLibrary.compile(
      source, in: folder,
      options: [
        "-fsanitize=address", "-fno-omit-frame-pointer", "-g",
        "-I", BuiltLibrary.embedder("misuse").deletingLastPathComponent().path,
      ])
    return try runCommand(
      program.path, arguments: ["\(rounds)"],
      environment: ["ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:exitcode=99"])
  }

  @Test(.enabled(if: (try? hasSanitizer.get()) == true, reason))
  func `no wrong call reads, frees or leaks what it must not`() throws {
    let rounds = Self.isLong ? 10_000 : 20
    let result = try run(
      BuiltLibrary.embedder("misuse"), rounds: rounds, in: TemporaryFolder())
    #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
    #expect(!result.stderr.contains("Sanitizer"))
    #expect(result.stdout.contains("\(rounds) rounds, \(rounds / 4 * 6) frames"))
    if Self.isLong { print("faults: libretake, \(result.stdout)") }
  }

  @Test(.enabled(if: (try? hasSanitizer.get()) == true, reason))
  func `pixels that are freed too early are reported`() throws {
    let folder = try TemporaryFolder()
    let text = try String(contentsOf: BuiltLibrary.embedder("misuse"), encoding: .utf8)
    let planted = text.replacingOccurrences(
      of: "  retake_status status = retake_pipeline_push(pipeline, &frame, NULL);",
      with: "  free(context->block);\n"
        + "  retake_status status = retake_pipeline_push(pipeline, &frame, NULL);")
    #expect(planted != text)
    let result = try run(
      folder.write(planted, to: "planted.c"), rounds: 4, in: folder)
    #expect(result.status == 99)
    #expect(result.stderr.contains("AddressSanitizer"))
  }
}

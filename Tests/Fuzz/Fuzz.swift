import Foundation
import RetakeFuzz
import RetakeTestSupport

/// libFuzzer's own main function, which reads the command line and calls `body` with each input.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Gives a parser of RetakeFuzz to libFuzzer: `Scripts/fuzz`.
@main enum FuzzProgram {
  /// The parser that `RETAKE_FUZZ_TARGET` names.
  private static let target: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["RETAKE_FUZZ_TARGET"] ?? ""
    guard let target = FuzzTarget.named(name) else {
      let names = FuzzTarget.all.map(\.name).joined(separator: " ")
      fatalError("RETAKE_FUZZ_TARGET names no target: '\(name)'; use one of \(names)")
    }
    return target
  }()

  private static let folder: TemporaryFolder = {
    do {
      return try TemporaryFolder("retake-fuzz")
    } catch {
      fatalError("no folder for the inputs: \(error)")
    }
  }()

  static func main() {
    var count = CommandLine.argc
    var arguments = CommandLine.unsafeArgv
    let status = runDriver(&count, &arguments, testOneInput)
    exit(status)
  }

  /// SAFETY: libFuzzer owns `count` bytes until the call returns; they are copied.
  fileprivate static func test(_ bytes: UnsafePointer<UInt8>?, _ count: Int) {
    target.run(Array(UnsafeBufferPointer(start: bytes, count: count)), in: folder.url)
  }
}

private func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  FuzzProgram.test(bytes, count)
  return 0
}

import Foundation
import Retake
import Testing

@testable import RetakeCommand

@Suite struct ProgressLineTests {
  @Test func `progress does not wait for a terminal that is paused, and its line is removed later`()
    throws
  {
    let terminal = Pipe()
    try Self.fill(terminal)
    let line = ProgressLine(on: terminal.fileHandleForWriting, isShown: true, waits: false)
    // Returns, although the pipe has no reader.
    line.show("a line of progress")
    let read = Locked(Data())
    let reader = try NamedThread("retake-reader") {
      let data = terminal.fileHandleForReading.readDataToEndOfFile()
      read.withLock { $0 = data }
    }
    line.finish()
    try terminal.fileHandleForWriting.close()
    reader.join()
    let text = String(decoding: read.withLock { $0 }.drop { $0 == 0 }, as: UTF8.self)
    #expect(text.hasPrefix("\r\u{1B}[2K") && text.hasSuffix("\r\u{1B}[2K"), "\(text)")
  }

  @Test func `a line that is drawn after the end goes to the terminal at once`() throws {
    let terminal = Pipe()
    let line = ProgressLine(on: terminal.fileHandleForWriting, isShown: true, waits: false)
    line.finish()
    line.show("tracing")
    line.finish()
    try terminal.fileHandleForWriting.close()
    let data = terminal.fileHandleForReading.readDataToEndOfFile()
    #expect(String(decoding: data, as: UTF8.self) == "\r\u{1B}[2Ktracing\r\u{1B}[2K")
  }

  /// Writes zeros until the pipe is full.
  private static func fill(_ pipe: Pipe) throws {
    let descriptor = pipe.fileHandleForWriting.fileDescriptor
    let flags = fcntl(descriptor, F_GETFL)
    try #require(fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0)
    let zeros = Data(count: 4_096)
    // Ends: a pipe has a bounded buffer (man 7 pipe).
    while zeros.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) > 0 {}
    try #require(fcntl(descriptor, F_SETFL, flags) == 0)
  }
}

import Foundation
import RetakeBuffers
import RetakeCore
import RetakeProcess
import RetakeTestSupport
import Testing

@testable import RetakeReplay

/// Lines on their way to a reader that is fast, slow, or no longer there.
@Suite(.onOwnThread) struct LineStreamTests {
  /// A stream that writes into a pipe.
  private func stream(
    into pipe: ChildPipe, waitingBytesMax: Int = LineStream.waitingBytesMax,
    lost: @escaping @Sendable (ReplayError) -> Void = { _ in }
  ) throws -> LineStream {
    let number = try #require(pipe.writeEnd)
    let file = WholeFile(
      stream: FileHandle(fileDescriptor: number), name: "a pipe", output: .results,
      endsWithReader: false)
    return try LineStream(file, waitingBytesMax: waitingBytesMax, lost: lost)
  }

  @Test func `each line can be read as soon as it is there`() throws {
    let pipe = try ChildPipe()
    let stream = try stream(into: pipe)
    for number in 0..<20 {
      stream.add("line \(number)\n")
      #expect(pipe.read(atMost: 1 << 10) == Array("line \(number)\n".utf8))
    }
    let counts = try stream.finish()
    #expect(counts.written == 20 && counts.dropped == 0)
  }

  @Test func `a reader that stands still keeps no one waiting, and what is dropped is counted`()
    throws
  {
    let pipe = try ChildPipe()
    let stream = try stream(into: pipe, waitingBytesMax: 10_000)
    let count = 2_000
    let filling = String(repeating: "x", count: 990)
    // Two megabytes: more than a pipe can hold.
    for number in 0..<count { stream.add("\(number) \(filling)\n") }
    let (read, isRead) = (Locked<[UInt8]>([]), DispatchSemaphore(value: 0))
    pipe.readToEnd { bytes in
      if let bytes { read.withLock { $0 += bytes } } else { isRead.signal() }
    }
    let counts = try stream.finish()
    pipe.closeWriteEnd()
    isRead.wait()
    let lines = String(decoding: read.withLock { $0 }, as: UTF8.self).split(separator: "\n")
    let numbers = lines.compactMap { line in
      line.split(separator: " ").first.flatMap { Int($0) }
    }
    #expect(counts.written == numbers.count && counts.written + counts.dropped == count)
    #expect(counts.dropped > 1_000)
    #expect(numbers == numbers.sorted())
    #expect(numbers.suffix(9) == Array(count - 9..<count)[...])
  }

  @Test func `a reader that leaves is reported once, and ends nothing`() throws {
    let pipe = try ChildPipe()
    let reports = Locked<[String]>([])
    let stream = try stream(into: pipe) { error in reports.withLock { $0.append(error.code) } }
    stream.add("read\n")
    #expect(pipe.read(atMost: 5) == Array("read\n".utf8))
    pipe.closeReadEnd()
    for number in 0..<100 { stream.add("line \(number)\n") }
    let counts = try stream.finish()
    #expect(counts.written == 1 && counts.dropped == 100)
    #expect(stream.isLost)
    #expect(reports.withLock { $0 } == ["replay.results.readerGone"])
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "there is no /dev/full"))
  func `a disk without room is an error at the end, and the lines are counted`() throws {
    let reports = Locked<[String]>([])
    let stream = try LineStream(try WholeFile(path: "/dev/full", output: .metadata)) { error in
      reports.withLock { $0.append(error.code) }
    }
    for number in 0..<10 { stream.add("line \(number)\n") }
    #expect {
      try stream.finish()
    } throws: {
      ($0 as? ReplayError)?.code == "replay.metadata.unwritable"
    }
    #expect(reports.withLock { $0 } == ["replay.metadata.unwritable"])
  }

  @Test func `a file that is given up leaves nothing behind`() throws {
    let folder = try TemporaryFolder()
    let stream = try LineStream(
      try WholeFile(path: folder.file("lines.jsonl").path, output: .metadata))
    stream.add("line\n")
    stream.discard()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
  }

  // MARK: Waiting lines

  private func contents(of backlog: LineBacklog) -> [String] {
    var backlog = backlog
    var lines: [String] = []
    while let line = backlog.take() { lines.append(line) }
    return lines
  }

  @Test func `where there is no room the oldest lines go, and the newest always has some`() {
    var backlog = LineBacklog(bytesMax: 6)
    for line in ["aa", "bb", "cc"] { backlog.add(line) }
    #expect(backlog.dropped == 0)
    backlog.add("dd")
    #expect(contents(of: backlog) == ["bb", "cc", "dd"] && backlog.dropped == 1)
    backlog.add("eeeeeeeeee")
    #expect(contents(of: backlog) == ["eeeeeeeeee"] && backlog.dropped == 4)
    backlog.add("f")
    #expect(contents(of: backlog) == ["f"] && backlog.dropped == 5)
  }

  @Test func `lines come in their order, however they are added and taken`() {
    var random = SeededGenerator(seed: 4)
    var backlog = LineBacklog(bytesMax: 64)
    var (added, taken, last) = (0, 0, -1)
    for _ in 0..<20_000 {
      if Bool.random(using: &random) {
        backlog.add("\(added)")
        added += 1
      } else if let line = backlog.take(), let number = Int(line) {
        #expect(number > last)
        (last, taken) = (number, taken + 1)
      }
    }
    let left = contents(of: backlog).count
    #expect(added == taken + left + backlog.dropped)
    #expect(backlog.dropped > 0 && taken > 1_000)
  }

  @Test func `what waits and what still comes is dropped once no one takes it`() {
    var backlog = LineBacklog(bytesMax: 100)
    for line in ["a", "b", "c"] { backlog.add(line) }
    #expect(backlog.take() == "a")
    backlog.abandon()
    backlog.add("d")
    #expect(backlog.take() == nil && backlog.dropped == 3)
  }
}

import Foundation
import RetakeTestSupport
import Testing

/// How the real `retake` behaves if images do not fit in memory.
@Suite(.enabled(if: Faults.works("ffmpeg", "-version"), "the ffmpeg command is not here"))
struct MemoryLimitTests {
  private func clip(_ name: String, size: String, frames: Int) throws -> Workplace {
    let workplace = try Workplace()
    try workplace.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=25", "-frames:v", "\(frames)", "-c:v",
      "libx264", "-preset", "ultrafast", "-g", "5", "-pix_fmt", "yuv420p", name)
    return workplace
  }

  @Test
  func
    `a clip whose pictures do not fit is refused by name and limit, and RETAKE_MEMORY raises it`()
    throws
  {
    let workplace = try clip("large.mp4", size: "4096x4096", frames: 3)
    let refused = try workplace.retake(
      "import", "large.mp4", environment: ["RETAKE_MEMORY": "64M"])
    #expect(refused.status == 2)
    #expect(refused.stderr.contains("[media.memory.limit]"), "\(refused.stderr)")
    #expect(
      refused.stderr.contains("4096x4096")
        && refused.stderr.contains("limit of a decoder is 40 MiB")
    )
    #expect(refused.stderr.contains("RETAKE_MEMORY=1G"), "\(refused.stderr)")
    #expect(!workplace.exists("Recordings/large"))
    let imported = try workplace.retake(
      "import", "large.mp4", environment: ["RETAKE_MEMORY": "1G"])
    #expect(imported.status == 0, "\(imported.stderr)")
    let read = try workplace.retake(
      "replay", "large", "--pipeline", "example:motion-boxes",
      environment: ["RETAKE_MEMORY": "64M"])
    #expect(read.status == 2 && read.stderr.contains("[media.memory.limit]"), "\(read.stderr)")
    // The limit counts the pictures, whatever container they are exported to.
    let exported = try workplace.retake(
      "session", "export", "large", "--media", "large.mkv",
      environment: ["RETAKE_MEMORY": "64M"])
    #expect(
      exported.status == 2 && exported.stderr.contains("[media.memory.limit]"),
      "\(exported.stderr)")
    #expect(!workplace.exists("large.mkv"))
  }

  @Test(arguments: ["", "64", "63M", "lots"])
  func `an amount of memory that cannot be read is a usage error`(text: String) throws {
    let result = try Workplace().retake(
      "session", "list", environment: ["RETAKE_MEMORY": text])
    #expect(result.status == 64)
    #expect(result.stderr.contains("RETAKE_MEMORY='\(text)'"), "\(result.stderr)")
    #expect(result.stderr.contains("RETAKE_MEMORY=2G"), "\(result.stderr)")
  }

  /// If one of Swift's own allocations fails, the process is ended by a signal, which cannot be
  /// prevented. The allocations here are for images, which are many times larger than everything
  /// else.
  @Test(.enabled(if: Faults.limits, "prlimit does not work here"))
  func `short of memory for drawn pictures a recording says so, or loses frames alone`() throws {
    let workplace = try Workplace()
    var runs = 0
    for mebibytes in stride(from: 440, through: 760, by: 40) {
      let name = "drawn-\(mebibytes)"
      let result = try workplace.retake(
        under: ["prlimit", "--as=\(mebibytes << 20)"],
        [
          "record", "synthetic:figures", "--frames", "6", "--size", "1920x1080", "--speed",
          "max", "--name", name,
        ], timeoutSeconds: 300)
      #expect(!result.timedOut, "\(mebibytes) MiB")
      // One of Swift's own allocations may fail as well, but no frame ends the process.
      #expect(!result.stderr.contains("no room for a frame"), "\(mebibytes) MiB: \(result.stderr)")
      guard result.signal == nil else {
        checkIsOfSwift(result, "\(mebibytes) MiB")
        continue
      }
      #expect([0, 2].contains(result.status), "\(mebibytes) MiB: \(result.stderr)")
      for word in ["corrupt", "damaged", "delivered no frame"] {
        #expect(!result.stderr.contains(word), "\(mebibytes) MiB: \(result.stderr)")
      }
      if result.status == 0 { runs += 1 }
      if result.status == 2 { checkIsNamed(result, "\(mebibytes) MiB") }
    }
    #expect(runs > 0, "the largest of them is enough")
  }

  @Test(.enabled(if: Faults.limits, "prlimit does not work here"))
  func `short of memory for pictures a command says so`() throws {
    let workplace = try clip("wide.mp4", size: "3840x2160", frames: 10)
    var runs = 0
    // The files of the libraries use most of the address space.
    for mebibytes in stride(from: 300, through: 1_200, by: 100) {
      let result = try workplace.retake(
        under: ["prlimit", "--as=\(mebibytes << 20)"],
        ["import", "wide.mp4", "--name", "wide-\(mebibytes)"], timeoutSeconds: 300)
      #expect(!result.timedOut, "\(mebibytes) MiB")
      if result.status == 0 { runs += 1 }
      guard result.status != 0 else { continue }
      if result.signal != nil {
        checkIsOfSwift(result, "\(mebibytes) MiB")
      } else {
        checkIsNamed(result, "\(mebibytes) MiB")
      }
      #expect(!result.stderr.contains("damaged"), "\(mebibytes) MiB: \(result.stderr)")
    }
    #expect(runs > 0, "the largest of them is enough")
  }

  /// The stack of a new thread may also exceed the limit.
  private func checkIsNamed(_ result: CommandResult, _ limit: String) {
    let isNamed = result.stderr.contains("memory") || result.stderr.contains("no thread")
    #expect(isNamed, "\(limit): \(result.stderr)")
  }

  /// A failed allocation of Swift's own collections ends the process. The bytes of an image are
  /// larger than any of them here.
  private func checkIsOfSwift(_ result: CommandResult, _ limit: String) {
    // The runtime's handler of fatal signals may wait forever if two threads fail at once.
    #expect(!result.stderr.contains("Backtracing from"), "\(limit): \(result.stderr)")
    let refused = result.stderr.matches(of: /failed to allocate (\d+) bytes/)
      .map { Int($0.1) ?? .max }
    #expect(refused.allSatisfy { $0 < 1_000_000 }, "\(limit): \(result.stderr)")
  }

  @Test(.enabled(if: Faults.limits, "prlimit does not work here"))
  func `short of memory for what a stage keeps of a picture a command says so`() throws {
    let workplace = try clip("broad.mp4", size: "1920x1080", frames: 12)
    try #require(try workplace.retake("import", "broad.mp4").status == 0)
    var runs = 0
    for mebibytes in stride(from: 300, through: 900, by: 20) {
      let result = try workplace.retake(
        under: ["prlimit", "--as=\(mebibytes << 20)"],
        ["replay", "broad", "--pipeline", "example:motion-boxes"], timeoutSeconds: 300)
      #expect(!result.timedOut, "\(mebibytes) MiB")
      if result.status == 0, result.signal == nil { runs += 1 }
      if result.signal != nil { checkIsOfSwift(result, "\(mebibytes) MiB") }
      for word in ["not match the index", "damaged", "corrupt"] {
        #expect(!result.stderr.contains(word), "\(mebibytes) MiB: \(result.stderr)")
      }
    }
    #expect(runs > 0, "the largest of them is enough")
  }

  /// Below that, an import ended by a signal or was left half done.
  @Test(.enabled(if: Faults.limits, "prlimit does not work here"))
  func `too little address space to begin is an error before the work`() throws {
    let workplace = try Workplace()
    var refused = 0
    for mebibytes in stride(from: 240, through: 600, by: 20) {
      let result = try workplace.retake(
        under: ["prlimit", "--as=\(mebibytes << 20)"],
        ["record", "synthetic:figures", "--frames", "1", "--name", "frame-\(mebibytes)"])
      guard result.stderr.contains("less than 40 MiB of address space are left") else { continue }
      refused += 1
      #expect(result.status == 2 && result.signal == nil, "\(mebibytes) MiB: \(result)")
      #expect(result.stderr.contains("[media.memory]") && result.stderr.contains("ulimit -v"))
    }
    #expect(refused > 0, "the libraries fit and no work does")
    #expect(!workplace.exists("Recordings/frame-240"))
  }

  /// libdispatch would wait for a thread forever when the session's connection is closed.
  @Test(.enabled(if: Self.hasUsers, "a user without other threads cannot be had here"))
  func `a process that may have no more threads says so before the work`() throws {
    let workplace = try Workplace()
    for threads in 1...3 {
      let result = try workplace.retake(
        under: Self.otherUser + ["prlimit", "--nproc=\(threads)"], ["session", "list"])
      #expect(!result.timedOut && result.status == 2, "\(threads): \(result)")
      #expect(result.stderr.contains("[runtime.memory.noThread]"), "\(threads): \(result)")
      #expect(result.stderr.contains("ulimit -u"), "\(threads): \(result)")
    }
    let enough = try workplace.retake(
      under: Self.otherUser + ["prlimit", "--nproc=16"], ["session", "list"])
    #expect(!enough.stderr.contains("no thread"), "\(enough)")
  }

  /// The limit counts the threads of a user, and does not hold for root.
  private static let otherUser = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"]
  private static let hasUsers = Faults.works(
    otherUser[0],
    otherUser[1], otherUser[2], otherUser[3], "prlimit", "--nproc=16", Workplace.binary, "--version"
  )
}

import Foundation
import Retake
import RetakeTestSupport
import Testing

extension FaultSuites {
  /// Recorders whose memory has a limit.
  @Suite(.serialized) struct MemoryFaultTests {
    private static let frames = 60

    private static func record(
      _ name: String, in workplace: Workplace, mebibytes: Int, _ more: [String] = [],
      size: String = "320x240", frames: Int = frames, under words: [String] = []
    ) throws -> CommandResult {
      try workplace.retake(
        under: ["prlimit", "--as=\(mebibytes << 20)"] + words,
        [
          "record", Workplace.noise(size), "--name", name, "--into", workplace.folder.url.path,
          "--frames", "\(frames)", "--probe", "skip", "--json",
        ] + more, timeoutSeconds: 600)
    }

    /// The smallest memory limit at which a recording works here, in MiB. The files of the
    /// libraries use most of it.
    private static let least = Result {
      let workplace = try Workplace()
      var (low, high) = (128, 2_048)
      // Ends: each round halves the range.
      while high - low > 16 {
        let middle = (low + high) / 2
        let name = "m-\(middle)"
        let result = try record(name, in: workplace, mebibytes: middle, frames: 10)
        if result.status == 0 { high = middle } else { low = middle }
      }
      return high
    }

    @Test(.enabled(if: Faults.limits, "prlimit does not work here"))
    func `with less memory than it needs a recorder ends, and never hangs`() throws {
      let least = try Self.least.get()
      let cases = Faults.cases(short: 4, long: 24)
      let results = try Faults.inParallel(cases, width: 2) { number in
        let workplace = try Workplace()
        return try Self.record(
          "small", in: workplace, mebibytes: least - 4 * (number + 1) * (number + 1), frames: 15)
      }
      for (number, result) in results.enumerated() {
        #expect(!result.timedOut, "case \(number) hangs")
      }
      Faults.print(
        row: "38", "less than the least", cases: cases,
        "the least is \(least) MiB; \(results.count(where: \.timedOut)) hung, "
          + "\(results.count { $0.signal != nil }) ended by a signal, "
          + "\(results.count { $0.status == 0 }) recorded")
    }

    @Test(.enabled(if: Faults.limits, "prlimit does not work here"))
    func `with twice the least memory a recorder loses nothing, and does not crash`() throws {
      let mebibytes = 2 * (try Self.least.get())
      let cases = Faults.cases(short: 2, long: 20)
      let runs = try Faults.inParallel(cases, width: 2) { number in
        let workplace = try Workplace()
        let result = try Self.record("twice", in: workplace, mebibytes: mebibytes)
        var session = workplace.session("twice", result)
        return (result: result, problems: try session.examine(), session: session)
      }
      for run in runs {
        #expect(run.result.status == 0 && run.result.signal == nil, "\(run.result.stderr)")
        report(run.problems, "twice the least")
        #expect(run.session.decoded + run.session.missing == Self.frames)
        #expect(run.session.last?.closed == true)
      }
      let (decoded, missing) = (
        runs.reduce(0) { $0 + $1.session.decoded }, runs.reduce(0) { $0 + $1.session.missing }
      )
      Faults.print(
        row: "38", "twice the least memory", cases: cases,
        "\(mebibytes) MiB: 0 crashes, \(cases * Self.frames) produced = \(decoded) accepted + "
          + "\(missing) dropped")
    }

    /// Without a bound on the queues, large images would use all memory.
    @Test(.enabled(if: Faults.limits && Faults.strace, "prlimit and strace are not both here"))
    func `large pictures before a disk that stands still are dropped, each with its cause`() throws
    {
      let mebibytes = 2 * (try Self.least.get())
      let workplace = try Workplace()
      let frames = Faults.isLong ? 900 : 240
      let media = workplace.folder.url.path + "/pressed/media/video-00000.mkv"
      let result = try workplace.retake(
        under: [
          "strace", "-f", "-qq", "-o", "/dev/null", "-P", media, "-e", "trace=fdatasync", "-e",
          "inject=fdatasync:delay_enter=6s:when=2", "prlimit", "--as=\(mebibytes << 20)",
        ],
        [
          "record", Workplace.noise("1920x1080"), "--name", "pressed", "--into",
          workplace.folder.url.path, "--frames", "\(frames)", "--preset", "mjpeg", "--probe",
          "skip", "--json",
        ], timeoutSeconds: 600)
      #expect(result.status == 0 && result.signal == nil, "\(result.stderr)")
      var session = workplace.session("pressed", result)
      try session.check()
      #expect(session.frames == frames && session.decoded + session.missing == frames)
      let causes = session.last?.frames.missing ?? [:]
      #expect(session.missing > 0)
      #expect(causes.keys.allSatisfy { $0.hasPrefix("record.shed.") }, "\(causes)")
      Faults.print(
        row: "38", "1920x1080 and a disk that stands still", cases: 1,
        "\(mebibytes) MiB: 0 crashes, \(frames) produced = \(session.decoded) accepted + "
          + "\(session.missing) dropped "
          + "\(causes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" })")
    }
  }
}

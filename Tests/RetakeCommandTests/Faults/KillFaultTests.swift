import Foundation
import Retake
import RetakeTestSupport
import Testing

extension FaultSuites {
  /// Recorders that are killed, or asked to end, at any moment.
  ///
  /// Use `RETAKE_FAULTS=long RETAKE_KILLS=1000 swift test --filter KillFaultTests` for the full
  /// run.
  @Suite(.serialized) struct KillFaultTests {
    private static let kills =
      ProcessInfo.processInfo.environment["RETAKE_KILLS"].flatMap { Int($0) }
      ?? Faults.cases(short: 12, long: 1_000)
    /// The moments of the kills, after the start or, for every second kill, after the first commit.
    /// Some are therefore killed after a commit, no matter how busy the machine is.
    private static let milliseconds = 40...2_600
    private static let tailNanosecondsMax = 1_000_000 * Faults.limit(milliseconds: 1_000)

    private struct Killed: Sendable {
      var problems: [String]
      var session: FaultSession
      /// The time from the last existing frame to the kill.
      var tailNanoseconds: Int64?
    }

    @Test func `a killed recorder loses nothing that it acknowledged, and a second at most`() throws
    {
      let folder = try TemporaryFolder("retake-kills")
      let killed = try Faults.inParallel(Self.kills) { number in
        var random = SeededGenerator(seed: UInt64(number))
        let recording = try LiveRecording(name: "kill-\(number)", into: folder.url, size: "64x48")
        if number % 2 == 1 { _ = recording.waitForCommit { $0.frames.captured > 0 } }
        recording.wait(milliseconds: random.pick(Self.milliseconds))
        recording.send(SIGKILL)
        defer { try? FileManager.default.removeItem(atPath: recording.path) }
        return try Self.examine(recording, isReplayed: number % 20 == 0)
      }
      for (number, kill) in killed.enumerated() {
        report(kill.problems, "kill \(number)")
        #expect((kill.tailNanoseconds ?? 0) <= Self.tailNanosecondsMax, "kill \(number)")
      }
      let acknowledged = killed.reduce(0) { $0 + $1.session.acknowledged }
      let tails = killed.compactMap(\.tailNanoseconds).sorted().map { $0 / 1_000_000 }
      #expect(acknowledged > 0 && !tails.isEmpty || Self.kills == 0)
      Faults.print(
        row: "1", "kill -9 while recording", cases: Self.kills,
        "\(killed.count { !$0.problems.isEmpty }) with a committed frame lost or unreadable; "
          + "\(acknowledged) frames acknowledged, "
          + "\(killed.reduce(0) { $0 + $1.session.frames }) read back, "
          + "\(killed.count { $0.session.frames == 0 }) killed before the first commit; tail median "
          + "\(tails.isEmpty ? 0 : tails[tails.count / 2]) ms, most \(tails.last ?? 0) ms")
    }

    private static func examine(_ recording: LiveRecording, isReplayed: Bool) throws -> Killed {
      let commits = recording.commits
      var session = FaultSession(recording.path, commits: commits.map(\.line))
      var killed = Killed(problems: try session.examine(), session: session)
      guard killed.problems.isEmpty, session.frames > 0 else { return killed }
      // Session time is converted to this process's clock with the commit line that arrived with
      // the least delay.
      if let zero = commits.map({ $0.receivedNanoseconds - $0.line.timeNanoseconds }).min() {
        let reader = try SessionReader(opening: recording.path)
        let last = try reader.entries(of: 0, sequences: session.frames - 1..<session.frames).first
        killed.tailNanoseconds = last.map {
          recording.endedNanoseconds - zero - $0.arrival.nanoseconds
        }
      }
      if isReplayed {
        for words in [
          ["session", "info", recording.path, "--json"],
          ["replay", recording.path, "--pipeline", "example:downsample-digest", "--json"],
        ] {
          let result = try runCommand(LiveRecording.binary, arguments: words)
          if result.status != 0 { killed.problems.append("\(words[0]): \(result.stderr)") }
        }
      }
      killed.problems += try session.recover()
      return killed
    }

    @Test func `a ring that is triggered and then killed is recovered with every whole packet`()
      throws
    {
      let count = Faults.cases(short: 4, long: 100)
      let folder = try TemporaryFolder("retake-rings")
      let killed = try Faults.inParallel(count) { number in
        var random = SeededGenerator(seed: UInt64(number))
        let recording = try LiveRecording(
          ["synthetic:figures", "--size", "64x48", "--pre-trigger", "3s", "--probe", "skip"],
          name: "ring-\(number)", into: folder.url)
        defer { try? FileManager.default.removeItem(atPath: recording.path) }
        // Ends: the folder is made with the first frame, or the machine is too slow for this case.
        for _ in 0..<Self.startAttempts
        where !FileManager.default.fileExists(atPath: recording.path) {
          recording.wait(milliseconds: 20)
        }
        recording.wait(milliseconds: random.pick(500...2_500))
        recording.tell(SIGUSR1)
        recording.wait(milliseconds: random.pick(0...600))
        recording.send(SIGKILL)
        return try Self.examineRing(recording.path)
      }
      for (number, kill) in killed.enumerated() { report(kill.problems, "ring \(number)") }
      Faults.print(
        row: "1b", "kill -9 of a triggered ring", cases: count,
        "\(killed.count { !$0.problems.isEmpty }) with a whole packet lost; "
          + "\(killed.reduce(0) { $0 + $1.packets }) packets in the media, "
          + "\(killed.reduce(0) { $0 + $1.rebuilt }) of them behind the last commit; "
          + "\(killed.count { $0.packets == 0 }) killed before anything was written")
    }

    private static let startAttempts = 500

    /// Compares a recovery with the packets that are in the media.
    private static func examineRing(
      _ path: String
    ) throws -> (packets: Int, rebuilt: Int, problems: [String]) {
      let media = path + "/media/video-00000.mkv"
      var packets = 0
      if let demuxer = try? MediaDemuxer(path: media) {
        while (try? demuxer.nextPacket()) != nil { packets += 1 }
      }
      guard packets > 0 else { return (0, 0, []) }
      let result = try SessionRecovery(path).run()
      let reader = try SessionReader(opening: path, options: ReadOptions(verifiesPixels: true))
      let entries = try reader.entries(of: 0, sequences: 0..<result.frames)
      let kept = entries.filter { !$0.isPayloadMissing }
      var problems: [String] = []
      if kept.count != packets { problems.append("\(kept.count) of \(packets) packets kept") }
      for entry in kept {
        do {
          _ = try reader.frame(entry.id)
        } catch {
          problems.append("frame \(entry.id) cannot be read: \(error)")
        }
      }
      return (packets, result.rebuiltFrames, problems)
    }

    @Test(.enabled(if: Faults.strace, "strace may not trace here"))
    func `a recorder that is killed at a write or sync loses nothing that it acknowledged`() throws
    {
      let frames = 45
      let whole = try Workplace()
      let log = whole.folder.file("calls.txt").path
      let dry = try whole.retake(
        under: SystemCall.tracing(to: log), whole.live("killed", frames: frames))
      try #require(dry.status == 0, "\(dry.stderr)")
      let home = whole.folder.url.resolvingSymlinksInPath().path
      let points = CallPoint.all(of: try SystemCall.all(in: log), session: home + "/killed")
      try #require(points.count > 100)
      let cases = Faults.cases(short: 12, long: points.count)
      let killed = try Faults.inParallel(cases) { number in
        // Most points are in the middle of the recording; the first points prepare its folder.
        let point = points[(number + 1) * points.count / cases - 1]
        let workplace = try Workplace()
        let here = workplace.folder.url.resolvingSymlinksInPath().path
        let paths = point.paths.flatMap { ["-P", $0.replacing(home, with: here)] }
        let result = try workplace.retake(
          under: ["strace", "-f", "-qq", "-o", "/dev/null"] + paths + [
            "-e", "trace=\(point.call)", "-e",
            "inject=\(point.call):signal=KILL:when=\(point.number)",
          ], workplace.live("killed", frames: frames))
        var session = workplace.session("killed", result)
        var problems = try session.examine()
        if problems.isEmpty { problems += try session.recover() }
        return (died: result.signal == SIGKILL, session: session, problems: problems)
      }
      for (number, kill) in killed.enumerated() { report(kill.problems, "point \(number)") }
      let died = killed.filter(\.died)
      let began = died.count { $0.session.acknowledged > 0 }
      #expect(died.count * 10 >= cases * 8, "\(died.count) of \(cases) were killed")
      #expect(began * 4 >= cases, "\(began) of \(cases) were killed after a commit")
      Faults.print(
        row: "2", "killed at every write and sync", cases: died.count,
        "\(killed.count { !$0.problems.isEmpty }) violations; \(began) after the first commit, "
          + "\(died.reduce(0) { $0 + $1.session.acknowledged }) frames acknowledged; "
          + "\(cases - died.count) ended before their call")
    }

    @Test func `recorders that are asked to end are whole within two seconds`() throws {
      let count = Faults.cases(short: 8, long: 500)
      let folder = try TemporaryFolder("retake-asked")
      let ends = try Faults.inParallel(count) { number in
        var random = SeededGenerator(seed: UInt64(number))
        let recording = try LiveRecording(name: "asked-\(number)", into: folder.url, size: "64x48")
        // Half of them early, while the program starts and before anything is written.
        let isEarly = number % 2 == 1
        if !isEarly { recording.waitForCommit() }
        recording.wait(milliseconds: random.pick(isEarly ? 0...200 : 0...1_200))
        let asked = DispatchTime.now().uptimeNanoseconds
        recording.send([SIGINT, SIGTERM, SIGHUP][number / 2 % 3])
        let nanoseconds = Int64(DispatchTime.now().uptimeNanoseconds - asked)
        defer { try? FileManager.default.removeItem(atPath: recording.path) }
        var session = FaultSession(recording.path, commits: recording.commits.map(\.line))
        var problems = try session.examine()
        if session.isThere {
          let status = try SessionReader(opening: recording.path).status()
          if status == .unclosed || session.last?.closed != true {
            problems.append("it is not closed: \(status), \(session.last?.closed == true)")
          }
        }
        return (problems: problems, session: session, nanoseconds: nanoseconds)
      }
      for (number, end) in ends.enumerated() { report(end.problems, "recording \(number)") }
      let slowest = (ends.map(\.nanoseconds).max() ?? 0) / 1_000_000
      #expect(slowest <= Faults.limit(milliseconds: 2_000), "\(slowest) ms")
      let there = ends.count { $0.session.frames > 0 }
      #expect(there * 2 >= count, "\(there) began")
      Faults.print(
        row: "37", "SIGINT and SIGTERM", cases: count,
        "\(there) readable and closed, \(count - there) before anything was written, "
          + "ended in \(slowest) ms at most")
    }
  }
}

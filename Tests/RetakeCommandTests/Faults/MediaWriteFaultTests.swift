import Foundation
import Retake
import RetakeTestSupport
import Testing

extension FaultSuites {
  /// Failing writes to the media, each write in turn.
  @Suite(.serialized) struct MediaWriteFaultTests {
    private static let frames = 90
    private static let eio = 5

    private struct Run: Sendable {
      var result: CommandResult
      var session: FaultSession
      var problems: [String] = []
      var writes = 0
      /// Segments with a failed write.
      var abandoned: [SessionEvent] = []
      /// The sequences of the frames without pixels.
      var missing: [Int] = []
      var isPlanted = false

      init(failing number: Int?) throws {
        let workplace = try Workplace()
        let log = workplace.folder.file("calls.txt").path
        let media = (0..<8).flatMap {
          ["-P", workplace.folder.url.path + "/media-eio/media/video-0000\($0).mkv"]
        }
        let fault = number.map { ["-e", "inject=pwrite64:error=EIO:when=\($0)"] } ?? []
        result = try workplace.retake(
          under: ["strace", "-f", "-qq", "-o", log] + media + ["-e", "trace=pwrite64"] + fault,
          workplace.live("media-eio", frames: MediaWriteFaultTests.frames))
        session = workplace.session("media-eio", result)
        problems = try session.examine()
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        writes = lines.count { $0.contains("pwrite64(") }
        isPlanted = lines.contains { $0.contains("EIO") && $0.contains("INJECTED") }
        if number != nil, !isPlanted { problems.append("the fault was not planted") }
        try readLosses()
        if problems.isEmpty { problems += try session.recover() }
      }

      private mutating func readLosses() throws {
        let reader = try SessionReader(opening: session.path)
        abandoned = try reader.events().filter { $0.kind == "segment.abandoned" }
        missing = try reader.entries(of: 0, sequences: 0..<MediaWriteFaultTests.frames)
          .filter(\.isPayloadMissing).map(\.id.sequence)
      }
    }

    @Test(.enabled(if: Faults.strace, "strace may not trace here"))
    func `a write to the media that fails costs one batch, and the next segment goes on`() throws {
      let whole = try Run(failing: nil)
      report(whole.problems, "nothing fails")
      #expect(whole.writes > 8 && whole.abandoned.isEmpty)
      let segments = try #require(whole.session.last).segments
      let cases = Faults.cases(short: 5, long: 40)
      let runs = try Faults.inParallel(cases) { number in
        var write = 1 + number * (whole.writes - 2) / cases
        var run = try Run(failing: write)
        // A busy machine makes fewer writes. Ends: each recording makes the first one.
        while !run.isPlanted, write > 1 {
          write = 1 + (write - 1) / 2
          run = try Run(failing: write)
        }
        return run
      }
      var lost: [Int] = []
      for (number, run) in runs.enumerated() {
        report(run.problems, "EIO in write \(number) of the media")
        #expect(run.result.status == 0 && run.result.signal == nil, "\(run.result.stderr)")
        let last = try #require(run.session.last)
        #expect(last.closed && last.frames.captured == Self.frames)
        #expect(last.segments >= segments, "another segment goes on")
        #expect(run.abandoned.count == 1)
        let json = try JSON(Data(try #require(run.abandoned.first).json.utf8))
        #expect(json.errorNumber.int == Self.eio && json.step.text == "write")
        // Frames that were not committed, and frames that the encoder made before the next segment
        // began. Their number depends on how busy the machine is.
        let causes = Set(last.frames.missing.keys)
        #expect(run.missing.count == last.frames.missing.values.reduce(0, +))
        #expect(run.missing.count < Self.frames)
        if causes.isSubset(of: ["record.lost.write", "record.lost.reference"]),
          let first = run.missing.first
        {
          #expect(run.missing == Array(first..<first + run.missing.count), "one batch is lost")
        }
        lost.append(run.missing.count)
      }
      Faults.print(
        row: "7", "EIO in writes of the media", cases: cases,
        "\(runs.count { !$0.problems.isEmpty }) with loss or a false claim; \(cases) new segments, "
          + "\(cases) events; \(lost) of \(Self.frames) frames without pixels")
    }
  }
}

import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeStages

/// The cost of copies of a frame, in memory that is new for each frame and in memory that is
/// leased.
struct CopiesSection {
  let scale: Scale

  private static let (width, height) = (1_920, 1_080)
  private static let formats: [(name: String, format: PixelFormat)] = [
    ("bgra", .bgra), ("i420", .i420),
  ]

  /// The time of a run, and its other costs.
  private struct Cost {
    var seconds = Double.infinity
    var processorSeconds = Double.infinity
    var faults = Double.infinity
    var hash = ""
  }

  func run() throws -> SectionReport {
    let frames = scale.count(300, tiny: 6)
    var report = SectionReport(
      name: "copies",
      title: "Copies: \(frames) frames of \(Self.width)x\(Self.height) through 0, 1 and 3 stages "
        + "that copy them, every-frame, 1 worker; new memory for each frame, and leased memory",
      hash: "")
    var hashes: [String] = []
    for (name, format) in Self.formats {
      let frame = Self.frame(format)
      for copies in [0, 1, 3] {
        for (memory, usesHeap) in [("new", true), ("leased", false)] {
          let cost = try best(frame, copies: copies, frames: frames, usesHeap: usesHeap)
          hashes.append(cost.hash)
          report.figures += Self.figures(
            "copies.\(name).\(copies).\(memory)", cost, frames: frames,
            bytes: copies * frames * format.visibleBytes(width: Self.width, height: Self.height))
        }
        let pair = hashes.suffix(2)
        if pair.first != pair.last { report.notes.append("\(name) \(copies): the rivals differ") }
      }
    }
    report.hash =
      report.notes.isEmpty
      ? Digest128(of: hashes.joined(separator: " ")).description : "the rivals differ"
    return report
  }

  private static func figures(
    _ name: String, _ cost: Cost, frames: Int, bytes: Int
  ) -> [Figure] {
    [
      Figure(
        name: "\(name).rate", value: Double(bytes) / cost.seconds / 1e6,
        unit: "MB of copies a second"),
      Figure(
        name: "\(name).cpu", value: 1e3 * cost.processorSeconds / Double(frames),
        unit: "ms of processor time a frame"),
      Figure(
        name: "\(name).faults", value: cost.faults / Double(frames), unit: "page faults a frame"),
    ]
  }

  private func best(
    _ frame: Frame, copies: Int, frames: Int, usesHeap: Bool
  ) throws -> Cost {
    var chain = Pipeline.named("copies").frames(RepeatedFrame(count: frames, frame))
    for _ in 0..<copies { chain = chain.stage(CopyFrame()) }
    let run = try PreparedRun(chain.sink(.resultSink), catalog: StageRegistry())
    var best = Cost()
    for _ in 0..<scale.rounds {
      var memory = RunMemory.Options()
      memory.usesHeap = usesHeap
      var options = RunOptions(mode: .everyFrame, workers: 1, watchdog: nil)
      options.memory = RunMemory(pools: [], poolOfNode: [:], memory)
      let before = Self.usage()
      let timing = try Timing {
        let observer = LastPixel()
        let outcome = try run.run(options, observer: observer)
        return "\(outcome.decisionDigest) \(observer.sum)"
      }
      let after = Self.usage()
      best.seconds = min(best.seconds, timing.seconds)
      best.processorSeconds = min(best.processorSeconds, after.seconds - before.seconds)
      best.faults = min(best.faults, after.faults - before.faults)
      best.hash = timing.hash
    }
    return best
  }

  private static func usage() -> (seconds: Double, faults: Double) {
    var usage = rusage()
    #if canImport(Glibc)
      getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    #else
      getrusage(RUSAGE_SELF, &usage)
    #endif
    let seconds = [usage.ru_utime, usage.ru_stime].reduce(0) {
      $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6
    }
    return (seconds, Double(usage.ru_minflt))
  }

  private static func frame(_ format: PixelFormat) -> Frame {
    Frame(
      format: format, width: width, height: height,
      planes: (0..<format.planeCount).map { plane in
        let bytes =
          format.rowBytes(plane: plane, width: width)
          * format.rowCount(plane: plane, height: height)
        return (0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ plane) }
      })
  }
}

/// Adds up a byte of each frame that reaches the sink.
private final class LastPixel: RunObserver {
  private(set) var sum = 0

  func finished(_ frame: FinishedFrame) {
    guard let picture = frame.pictures.first ?? nil else { return }
    picture.forEachRow(of: 0) { row in sum += Int(row[row.count - 1]) }
  }
}

import Foundation
import RetakeBuffers

final class Block: Sendable { let number = 1 }

let seconds = Double(CommandLine.arguments[1]) ?? 60
var sizing = PoolSizing()
sizing.off = [.breaker]
let pool = BufferPool("audio", sizing: sizing, capacity: 4) { Block() }
let frames = FramePool("frames", sizing: sizing, capacity: 4)
let memory = RunMemory(pools: [("copies", 3)], poolOfNode: ["copy": 0])
let end = Date().addingTimeInterval(seconds)
let done = DispatchSemaphore(value: 0)

func painted(_ level: UInt8, _ side: Int, _ thread: Int) -> Frame? {
  func fill(_ frame: inout WritableFrame) {
    frame.forEachRow(of: 0) { _, bytes in
      for x in bytes.indices { bytes[x] = level }
    }
  }
  if thread % 2 == 0 {
    var frame = WritableFrame(
      in: memory.supply(of: "copy"), format: .gray, width: side, height: side, range: .full,
      matrix: nil)
    fill(&frame)
    return frame.finish()
  }
  guard
    var frame = (try? frames.makeFrame(for: "camera", format: .gray, width: side, height: side))
      ?? nil
  else { return nil }
  fill(&frame)
  return frame.finish()
}

for thread in 0..<8 {
  Thread.detachNewThread {
    var held: [BufferLease<Block>] = []
    var round: Int64 = 0
    var kept: [Frame] = []
    while Date() < end {
      for side in [32, 300] {
        round += 1
        let level = UInt8(truncatingIfNeeded: round &+ Int64(thread))
        if let frame = painted(level, side, thread) { kept.append(frame) }
        if kept.count > 2 {
          let frame = kept.removeFirst()
          let first = frame.bytes(of: 0)
          guard first.allSatisfy({ $0 == first[0] }) else { fatalError("two frames share memory") }
        }
        if thread == 3 { frames.advance(to: round * 1_000_000) }
        if thread == 4, round % 50 == 0 { memory.pools[0].resize(to: 1 + Int(round / 50 % 4)) }
      }
      for _ in 0..<200 {
        round += 1
        if let lease = try? pool.lease(for: "stage \(thread)") { held.append(lease) }
        if held.count > thread % 3 { held.removeFirst().end() }
        if round % 1_000 == 0, let lease = held.first { lease.end() }
        if round % 5_003 == 0, !held.isEmpty { held.removeFirst() }
        if thread == 0 { pool.advance(to: round * 1_000_000) }
        if thread == 1, round % 70_000 == 0 { _ = pool.becameHot(at: round * 1_000_000) }
        if thread == 2, round % 90_000 == 0 { _ = pool.ranShortOfMemory(at: round * 1_000_000) }
      }
    }
    held.forEach { $0.end() }
    kept = []
    done.signal()
  }
}
for _ in 0..<8 { done.wait() }
let report = pool.report
let leased = report.stages.reduce(0) { $0 + $1.leased }
print("\(leased) leases, \(report.stalls) stalls, \(report.resizes) changes of size")
guard report.inUse == 0, report.stages.allSatisfy({ $0.held == 0 }) else { exit(1) }
let (own, run) = (frames.report, memory.pools[0].report)
guard own.inUse == 0, run.inUse == 0, own.faults.isEmpty, run.overflows > 0 else { exit(1) }
print("\(own.stages[0].leased) frames of a pool, \(run.stages[0].leased) of a run")
print("the book balances; " + report.faults.joined(separator: ", "))

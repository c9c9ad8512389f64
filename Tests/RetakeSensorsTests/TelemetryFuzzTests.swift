import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeSensors

/// Telemetry that is almost right: numbers, or an error with its byte, and never a crash.
/// RETAKE_FUZZ_ROUNDS sets another number of rounds.
@Suite struct TelemetryFuzzTests {
  @Test func `no packet of telemetry ends the process`() throws {
    let whole = MadeTelemetry.packet([100, 200, -300, 0, 1, 2])
    var numbers = SeededGenerator(seed: 13)
    let rounds =
      ProcessInfo.processInfo.environment["RETAKE_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 5_000
    var (read, refused) = (0, 0)
    for round in 0..<rounds {
      var bytes = whole
      for _ in 0...Int.random(in: 0..<4, using: &numbers) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &numbers)
        switch Int.random(in: 0..<5, using: &numbers) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
        case 1: bytes[place] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &numbers) ?? 0
        case 2: bytes.removeSubrange(place...)
        case 3: bytes.removeSubrange(place..<min(bytes.count, place + 4))
        default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 12)], at: place)
        }
      }
      let walk = TelemetryWalk(bytes: bytes)
      let reading = TelemetryStream(walk: walk)
      do {
        try walk.eachStream { (device, items) in
          guard let payload = try reading.payload(device: device, items) else { return }
          #expect(
            payload.samples.allSatisfy { $0.count == payload.channels.count }, "round \(round)")
        }
        read += 1
      } catch let error as TelemetryDamage {
        refused += 1
        #expect((0...bytes.count).contains(error.byte) && !error.problem.isEmpty, "round \(round)")
      }
    }
    #expect(read > 100 && refused > 100, "\(read) read, \(refused) refused")
  }
}

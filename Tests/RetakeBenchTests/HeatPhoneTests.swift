import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeTestSupport
import RetakeTimePlane
import Testing

@testable import RetakeBench

@Suite struct HeatPhoneTests {
  @Test func `the calibrated energy is the smallest that makes it hot in 90 seconds`() throws {
    func seconds(_ femtojoules: Int64) throws -> Double? {
      let profile = HeatPhone.profile(named: "p", femtojoulesPerByte: femtojoules)
      let run = try HeatTrial.copies(3).run(on: profile, nanoseconds: 92_000_000_000)
      return run.firstOf[.serious].map { Double($0) / 1e9 }
    }
    let energy = HeatPhone.femtojoulesPerByteCalibrated
    #expect(try seconds(energy) == 90)
    #expect(try #require(try seconds(energy - HeatCalibration.step)) > 90)
  }

  /// Trials with a throttle, an adaptive pool on many servers, and stages that copy.
  private static let trials: [HeatTrial] = [
    .copies(3), .pool("deep", capacity: 8, adaptive: PoolSizing(), isDeep: true),
    .pulse(
      "pulse",
      throttle: DevicePolicy(fps: 30, rules: [DeviceRule(thermal: .serious, fps: 15)])),
  ]

  @Test(arguments: 0..<3) func `a trial decides as a replay does`(index: Int) throws {
    let trial = Self.trials[index]
    var phone = HeatPhone.profile(named: "p", femtojoulesPerByte: 900_000_000_000)
    // So that it is serious after some seconds.
    phone.heat?.nodes[0].capacity = 2_000
    phone.heat?.limits = .init(fair: 27, serious: 30, critical: 60)
    let seconds = 40
    let core = try CoreRun(
      trial.pipeline, camera: .init(fps: trial.fps, format: .gray, width: 1, height: 1),
      profile: phone, seed: 3
    ).run(nanoseconds: Int64(seconds) * 1_000_000_000)

    var pipeline = trial.pipeline
    pipeline.nodes[0].stage = BenchFrames(fps: trial.fps, count: seconds * trial.fps).stage
    for index in pipeline.nodes.indices {
      let signature = pipeline.nodes[index].stage.signature
      guard signature.role == .pure, signature.output == .scalars else { continue }
      pipeline.nodes[index].stage = AnyStage(
        signature: signature, options: .object([:]), body: .pure { _, _ in .success(Scalars([])) })
    }
    var options = RunOptions(mode: .simulate, workers: 2, seed: 3)
    options.costs = RunCosts(profile: phone)
    let replay = try PreparedRun(pipeline, catalog: StageRegistry()).run(
      options, observer: PoolMeter(end: 0, size: 0))
    #expect(core.digest == replay.decisionDigest)
    #expect(core.heat == replay.heat)
    #expect(core.delivered == replay.headline.delivered)
    #expect(core.captured == replay.headline.captured && core.captured > 0)
    #expect(core.firstOf[.serious] != nil, "\(String(describing: core.heat))")
  }

  @Test func `the documents of the phones have the numbers of the trials`() throws {
    for (phone, document) in [
      (HeatPhone.derived, EmbeddedResources.phoneDerivedJSON),
      (.calibrated, EmbeddedResources.phoneCalibratedJSON),
    ] {
      let heat = try #require(phone.profile.heat)
      let copy = FixedPoint.text(Int(heat.femtojoulesPerByte), digits: 6)
      #expect(document.contains("\"copy\": \"\(copy)nJ/B\""))
      let idle = FixedPoint.text(Int(heat.idleMicrowatts), digits: 6)
      #expect(document.contains("\"idle\": \"\(idle)W\""))
      for (executor, power) in heat.busyMicrowatts {
        let watts = FixedPoint.text(Int(power), digits: 6)
        #expect(document.contains("\"\(executor)\": \"\(watts)W\""))
      }
      for node in heat.nodes {
        let capacity = FixedPoint.text(Int(node.capacity), digits: 3)
        let resistance = FixedPoint.text(Int(node.resistance), digits: 3)
        #expect(
          document.contains(
            "\"capacity\": \"\(capacity)J/K\", \"resistance\": \"\(resistance)K/W\""))
      }
    }
  }

  @Test func `a document of a machine marks what was measured`() {
    var measurement = MachineMeasurement(processors: 2, copyBytesPerSecond: 4_321_987_654)
    #expect(measurement.gaps.count == 2)
    let blind = measurement.document(name: "vm", machine: "2 processors")
    #expect(blind.contains("\"copyRate\": \"4.321GB/s\""))
    #expect(blind.contains("\"copyRate\": \"measured: 2 processors\""))
    #expect(blind.contains("\"heat.idle\": \"assumed: the machine shows no energy counter\""))
    measurement.temperatures = (41.5, 58)
    measurement.microwatts = (3_500_000, 12_250_000)
    #expect(measurement.gaps.isEmpty)
    let seeing = measurement.document(name: "desk", machine: "8 processors")
    #expect(seeing.contains("\"start\": \"41.5C\""))
    #expect(seeing.contains("\"idle\": \"3.5W\""))
    #expect(seeing.contains("\"*\": \"8.75W\""))
    #expect(seeing.contains("\"heat.start\": \"measured: 41.5C idle, 58C after the copies\""))
    #expect(seeing.contains("\"heat.nodes\": \"assumed: "))
  }

  @Test func `sensors are the hottest zone and the packages' counters`() throws {
    let root = try TemporaryFolder()
    try root.write("45000\n", to: "sys/class/thermal/thermal_zone0/temp")
    try root.write("51500\n", to: "sys/class/thermal/thermal_zone1/temp")
    for (name, counter) in [("intel-rapl:0", 1_000), ("intel-rapl:0:0", 77), ("intel-rapl", 5)] {
      try root.write("\(counter)\n", to: "sys/class/powercap/\(name)/energy_uj")
      try root.write("10000000\n", to: "sys/class/powercap/\(name)/max_energy_range_uj")
    }
    let sensors = MachineSensors(root: root.url.path)
    var first = sensors.reading(WallClock())
    #expect(first.temperature == 51.5)
    #expect(first.energy?.counter == 1_000)
    first.nanoseconds = 0
    var second = first
    second.nanoseconds = 2_000_000_000
    second.energy?.counter = 4_001_000
    #expect(second.power(since: first) == 2_000_000)
    // The counter began again.
    second.energy?.counter = 500
    #expect(second.power(since: first) == 4_999_750)
    #expect(MachineSensors(root: root.url.path + "/none").reading(WallClock()).energy == nil)
  }
}

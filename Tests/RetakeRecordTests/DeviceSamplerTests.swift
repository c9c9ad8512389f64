import Foundation
import RetakeCore
import RetakeRuntime
import RetakeTestSupport
import Synchronization
import Testing

@testable import RetakeRecord

@Suite struct DeviceSamplerTests {
  @Test func `the hottest zone counts, against its own trip points`() throws {
    let root = try TemporaryFolder("retake-thermal")
    try root.write("45000\n", to: "thermal_zone0/temp")
    try root.write("81000\n", to: "thermal_zone1/temp")
    try root.write("passive\n", to: "thermal_zone1/trip_point_0_type")
    try root.write("80000\n", to: "thermal_zone1/trip_point_0_temp")
    try root.write("critical\n", to: "thermal_zone1/trip_point_1_type")
    try root.write("100000\n", to: "thermal_zone1/trip_point_1_temp")
    var sampler = ThermalSampler(root: root.url.path)
    #expect(sampler.sample() == .thermal(.serious))
    try root.write("79000\n", to: "thermal_zone1/temp")
    #expect(sampler.sample() == .thermal(.serious), "it is not yet two degrees below")
    try root.write("77000\n", to: "thermal_zone1/temp")
    #expect(sampler.sample() == .thermal(.fair))
    try root.write("95000\n", to: "thermal_zone1/temp")
    #expect(sampler.sample() == .thermal(.critical))
    try root.write("20000\n", to: "thermal_zone1/temp")
    #expect(sampler.sample() == .thermal(.nominal))
  }

  @Test func `the hottest zone's temperature is told in steps of a degree`() throws {
    let root = try TemporaryFolder("retake-temperature")
    try root.write("45250\n", to: "thermal_zone0/temp")
    try root.write("38000\n", to: "thermal_zone1/temp")
    // A sensor that is off.
    try root.write("-274000\n", to: "thermal_zone2/temp")
    try root.write("90000\n", to: "cooling_device0/temp")
    var sampler = TemperatureSampler(root: root.url.path)
    #expect(sampler.sample() == .temperature(45.25))
    try root.write("46200\n", to: "thermal_zone0/temp")
    #expect(sampler.sample() == .temperature(45.25), "it is not yet a degree more")
    try root.write("46250\n", to: "thermal_zone0/temp")
    #expect(sampler.sample() == .temperature(46.25))
    try root.write("44000\n", to: "thermal_zone0/temp")
    #expect(sampler.sample() == .temperature(44))
    var silent = TemperatureSampler(root: root.url.path + "/nothing")
    #expect(silent.sample() == nil)
  }

  @Test(arguments: [
    (
      "some avg10=0.00 avg60=9 avg300=9 total=1\nfull avg10=0.00 avg60=9 avg300=9 total=1",
      MemoryPressure.normal
    ),
    (
      "some avg10=12.50 avg60=0 avg300=0 total=1\nfull avg10=3.00 avg60=0 avg300=0 total=1",
      .warning
    ),
    (
      "some avg10=40.00 avg60=0 avg300=0 total=1\nfull avg10=10.00 avg60=0 avg300=0 total=1",
      .critical
    ),
  ])
  func `memory is short by the share of time that tasks wait for it`(
    text: String, pressure: MemoryPressure
  ) throws {
    let root = try TemporaryFolder("retake-memory")
    var sampler = MemorySampler(path: try root.write(text, to: "memory").path)
    #expect(sampler.sample() == .memory(pressure))
  }

  @Test func `the battery with the least charge counts, not a mouse's`() throws {
    let root = try TemporaryFolder("retake-power")
    for (supply, level, scope) in [
      ("BAT0", "80", "System"), ("BAT1", "35", "System"), ("mouse", "5", "Device"),
    ] {
      try root.write("Battery\n", to: "\(supply)/type")
      try root.write("\(level)\n", to: "\(supply)/capacity")
      try root.write("\(scope)\n", to: "\(supply)/scope")
      try root.write("Discharging\n", to: "\(supply)/status")
    }
    try root.write("Mains\n", to: "AC/type")
    try root.write("0\n", to: "AC/online")
    #expect(PowerSampler(root: root.url.path).sample() == .battery(BatteryState(level: 35)))
    try root.write("1\n", to: "AC/online")
    #expect(
      PowerSampler(root: root.url.path).sample()
        == .battery(BatteryState(level: 35, isCharging: true)))
  }

  @Test func `a machine that says nothing has no events, and only changes are told`() throws {
    let root = try TemporaryFolder("retake-device")
    let nowhere = root.url.path + "/nothing"
    var silent = DeviceObserver([
      ThermalSampler(root: nowhere), MemorySampler(path: nowhere), PowerSampler(root: nowhere),
    ])
    #expect(silent.changes().isEmpty)
    try root.write("90000\n", to: "thermal_zone0/temp")
    var observer = DeviceObserver([ThermalSampler(root: root.url.path)])
    #expect(observer.changes() == [.thermal(.serious)])
    #expect(observer.changes().isEmpty)
    try root.write("30000\n", to: "thermal_zone0/temp")
    #expect(observer.changes() == [.thermal(.nominal)])
  }

  @Test func `a watch looks once a second and ends when it is told to`() throws {
    let root = try TemporaryFolder("retake-watch")
    try root.write("90000\n", to: "thermal_zone0/temp")
    let seen = Mutex<[DeviceEvent]>([])
    let noted = ThreadCondition()
    let watch = try DeviceWatch(
      DeviceObserver([ThermalSampler(root: root.url.path)]), clock: ManualClock()
    ) { event in
      seen.withLock { $0.append(event) }
      noted.signal()
    }
    noted.wait()
    watch.stop()
    #expect(seen.withLock { $0 } == [.thermal(.serious)])
  }
}

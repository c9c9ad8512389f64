import Foundation
import RetakeRuntime
import RetakeSession
import RetakeTestSupport
import Synchronization
import Testing

@testable import RetakeRecord

@Suite struct MemoryWatchTests {
  @Test(
    arguments: [
      ([nil, nil], []),
      ([500, 97, 95], [.short]),
      ([500, 95, 100, 113], [.short, .normal]),
      ([40, 60, 65, 110, 115], [.critical, .short, .normal]),
    ] as [([Int64?], [MemoryWatch.Level])])
  func `levels follow the room that is left, and end above where they began`(
    mebibytes: [Int64?], levels: [MemoryWatch.Level]
  ) {
    var watch = MemoryWatch()
    let seen = mebibytes.compactMap { room in watch.look(room: room.map { $0 << 20 }) }
    #expect(seen == levels)
  }

  @Test func `a queue takes a quarter when memory is short, and one piece when it is critical`() {
    var budget = PayloadBudget(countMax: 8, bytesMax: 800)
    func taken() -> Int {
      var copy = budget
      var count = 0
      while copy.offer(10, nowNanoseconds: 0) == .take { count += 1 }
      return count
    }
    #expect(taken() == 8)
    budget.level = .short
    #expect(taken() == 2)
    budget.level = .critical
    #expect(taken() == 1)
  }

  @Test func `queues are bounded by what may be taken at the start`() {
    #expect(MemoryWatch.bound(256 << 20, room: nil) == 256 << 20)
    #expect(MemoryWatch.bound(256 << 20, room: 4 << 30) == 256 << 20)
    #expect(MemoryWatch.bound(256 << 20, room: 148 << 20) == 25 << 20)
    #expect(MemoryWatch.bound(256 << 20, room: 0) == 1)
  }

  @Test func `room is what the narrowest of all limits leaves`() throws {
    let root = try TemporaryFolder()
    try root.write("1000 0 0 0 0 0 0\n", to: "proc/self/statm")
    try root.write("4:memory:/job\n0::/\n", to: "proc/self/cgroup")
    let path = root.url.path
    let page = Int64(sysconf(Int32(_SC_PAGESIZE)))
    #expect(FreeMemory(addressLimit: nil, root: path).isUnlimited)
    #expect(FreeMemory(addressLimit: 1 << 30, root: path).bytes() == 1 << 30 - 1_000 * page)
    try root.write("9223372036854771712\n", to: "sys/fs/cgroup/memory/memory.limit_in_bytes")
    #expect(FreeMemory(addressLimit: nil, root: path).isUnlimited)
    try root.write("5000000\n", to: "sys/fs/cgroup/memory/job/memory.limit_in_bytes")
    try root.write("3000000\n", to: "sys/fs/cgroup/memory/job/memory.usage_in_bytes")
    try root.write(
      "cache 9\ninactive_file 500\ntotal_inactive_file 1000000\n",
      to: "sys/fs/cgroup/memory/job/memory.stat")
    #expect(FreeMemory(addressLimit: 1 << 30, root: path).bytes() == 3_000_000)
    try root.write("0::/job\n", to: "proc/self/cgroup")
    try root.write("7000000\n", to: "sys/fs/cgroup/job/memory.max")
    try root.write("6000000\n", to: "sys/fs/cgroup/job/memory.current")
    try root.write("inactive_file 0\n", to: "sys/fs/cgroup/job/memory.stat")
    #expect(FreeMemory(addressLimit: nil, root: path).bytes() == 1_000_000)
  }

  @Test(arguments: ["0::/machine/app/job\n", "4:memory:/machine/app/job\n"])
  func `the limits of the groups above count, too`(group: String) throws {
    let root = try TemporaryFolder()
    try root.write(group, to: "proc/self/cgroup")
    let isFirst = group.hasPrefix("4")
    let base = "sys/fs/cgroup/" + (isFirst ? "memory/" : "")
    let (limit, usage) =
      isFirst
      ? ("memory.limit_in_bytes", "memory.usage_in_bytes") : ("memory.max", "memory.current")
    func set(_ folder: String, _ bytes: Int, used: Int) throws {
      try root.write("\(bytes)\n", to: base + folder + limit)
      try root.write("\(used)\n", to: base + folder + usage)
    }
    func room() -> Int64? { FreeMemory(addressLimit: nil, root: root.url.path).bytes() }
    #expect(room() == nil)
    try set("machine/", 9_000_000, used: 5_000_000)
    #expect(room() == 4_000_000)
    try set("machine/app/job/", 6_000_000, used: 1_000_000)
    #expect(room() == 4_000_000, "its own limit leaves more")
    try set("machine/app/", 3_000_000, used: 2_000_000)
    #expect(room() == 1_000_000)
    try set("", 8_000_000, used: 7_500_000)
    #expect(room() == 500_000)
  }

  /// The control group reports how much is used; the test simulates it.
  @Test func `a recorder that is short of memory sheds payload with its cause, and says so`() throws
  {
    let root = try TemporaryFolder()
    try root.write("0::/job\n", to: "proc/self/cgroup")
    try root.write("1000000000\n", to: "sys/fs/cgroup/job/memory.max")
    try root.write("0\n", to: "sys/fs/cgroup/job/memory.current")
    let room = FreeMemory(addressLimit: nil, root: root.url.path)
    let pipes = RecorderPipes(
      RecorderOptions(name: "yard"), clock: ManualClock(step: 60_000_000), room: room)
    func offers() -> Int {
      pipes.watchMemory()
      var taken = 0
      while pipes.captured.offer(1_000) == .take { taken += 1 }
      for _ in 0..<taken { pipes.captured.finish(1_000) }
      return taken
    }
    #expect(offers() == 32)
    try root.write("950000000\n", to: "sys/fs/cgroup/job/memory.current")
    #expect(offers() == 1 && pipes.shedCause == "record.shed.memory")
    try root.write("0\n", to: "sys/fs/cgroup/job/memory.current")
    #expect(offers() == 32 && pipes.shedCause == "record.shed.encoder")
    let kinds = pipes.captured.takeAll().rows.compactMap { row in
      if case .event(let event) = row { event.kind } else { nil }
    }
    #expect(kinds == ["memory.critical", "memory.normal"])
  }

  @Test func `a thread that the system does not give is an error, not a wait for ever`() throws {
    let ran = Mutex(0)
    let thread = try NamedThread("retake-test-thread") { ran.withLock { $0 += 1 } }
    thread.join()
    #expect(ran.withLock { $0 } == 1)
    let error = RuntimeError.noThread(name: "retake-writer", cause: "Resource unavailable")
    #expect(error.code == "runtime.memory.noThread" && error.advice?.contains("ulimit") == true)
  }

  private struct RingCase: Sendable {
    /// In MiB.
    var wanted: Int?
    var room: Int?
    var available: Int?
    var bytes: Int
  }

  private static let ringCases = [
    RingCase(wanted: nil, room: nil, available: nil, bytes: 1_024 << 20),
    RingCase(wanted: nil, room: nil, available: 400, bytes: 100 << 20),
    RingCase(wanted: nil, room: nil, available: 8_192, bytes: 1_024 << 20),
    RingCase(wanted: 2_048, room: nil, available: 400, bytes: 2_048 << 20),
    RingCase(wanted: 2_048, room: 448, available: nil, bytes: 100 << 20),
    RingCase(wanted: nil, room: 10, available: nil, bytes: 1),
  ]

  @Test(arguments: ringCases)
  private func `a ring takes what is asked for, a share of what is free, and not beyond a limit`(
    _ given: RingCase
  ) {
    let bytes = MemoryWatch.ringBound(
      given.wanted.map { $0 << 20 }, room: given.room.map { Int64($0) << 20 },
      available: given.available.map { Int64($0) << 20 })
    #expect(bytes == given.bytes)
  }
}

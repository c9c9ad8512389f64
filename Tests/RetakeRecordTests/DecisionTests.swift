import RetakeCore
import RetakeRuntime
import Testing

@testable import RetakeRecord

@Suite struct DecisionTests {
  /// Offers and completions of one byte each, as a time line: `o` offers, `f` finishes. The result
  /// of an offer is `t` (taken) or `x` (full).
  private func budget(_ input: String, countMax: Int, bytesMax: Int = 1_000) -> String {
    var budget = PayloadBudget(countMax: countMax, bytesMax: bytesMax)
    return String(
      input.map { event in
        guard event == "o" else {
          budget.finish(1)
          return "-"
        }
        return budget.offer(1, nowNanoseconds: 0) == .take ? "t" : "x"
      })
  }

  @Test func `payload is taken while there is room, and again when some is worked off`() {
    #expect(budget("oooofofooo", countMax: 3) == "tttx-t-txx")
    #expect(budget("oofoo", countMax: 9, bytesMax: 1) == "tx-tx")
  }

  @Test func `a piece larger than the budget is taken alone`() {
    var budget = PayloadBudget(countMax: 8, bytesMax: 100)
    #expect(budget.offer(500, nowNanoseconds: 0) == .take)
    #expect(budget.offer(1, nowNanoseconds: 0) == .full)
    budget.finish(500)
    #expect(budget.offer(60, nowNanoseconds: 0) == .take)
    #expect(budget.isPressed)
    #expect(budget.offer(41, nowNanoseconds: 0) == .full)
    #expect(budget.offer(40, nowNanoseconds: 0) == .take)
  }

  @Test func `nothing is taken while the oldest piece waits too long`() {
    var budget = PayloadBudget(countMax: 9, bytesMax: 100, ageNanosecondsMax: 300)
    #expect(budget.offer(1, nowNanoseconds: 1_000) == .take)
    #expect(budget.offer(1, nowNanoseconds: 1_300) == .take)
    #expect(budget.offer(1, nowNanoseconds: 1_301) == .full)
    budget.finish(1)
    #expect(budget.offer(1, nowNanoseconds: 1_301) == .take)
    budget.finish(1)
    budget.finish(1)
    #expect(budget.offer(1, nowNanoseconds: 9_000) == .take, "nothing waits")
  }

  @Test func `a commit is due when the oldest row waited for the interval`() {
    var schedule = CommitSchedule(intervalNanoseconds: 400, rowsMax: 3)
    #expect(schedule.deadlineNanoseconds == nil)
    #expect(!schedule.isDue(nowNanoseconds: 10_000))
    schedule.rowAdded(nowNanoseconds: 1_000)
    schedule.rowAdded(nowNanoseconds: 1_300)
    #expect(schedule.deadlineNanoseconds == 1_400)
    #expect(!schedule.isDue(nowNanoseconds: 1_399))
    #expect(schedule.isDue(nowNanoseconds: 1_400))
    schedule.rowAdded(nowNanoseconds: 1_310)
    #expect(schedule.isDue(nowNanoseconds: 1_311), "three rows are enough")
    schedule.committed()
    #expect(schedule.deadlineNanoseconds == nil)
  }

  @Test func `commits come closer as the disk's room goes`() {
    var schedule = CommitSchedule(intervalNanoseconds: 400, rowsMax: 1_000)
    func isDue(after bytes: Int, room: Int64) -> Bool {
      schedule.setRoom(bytes: room)
      schedule.rowAdded(nowNanoseconds: 0)
      return schedule.isDue(nowNanoseconds: 1, bytes: Int64(bytes))
    }
    #expect(!isDue(after: (16 << 20) - 1, room: 1 << 40))
    #expect(isDue(after: 16 << 20, room: 1 << 40))
    #expect(!isDue(after: (1 << 20) - 1, room: 8 << 20))
    #expect(isDue(after: 1 << 20, room: 8 << 20))
    #expect(!isDue(after: (64 << 10) - 1, room: -1))
    #expect(isDue(after: 64 << 10, room: -1))
  }

  @Test func `where a file may not be larger the next ones end before`() {
    var machine = SegmentStateMachine(limits: .init(bytesMax: 1_000, nanosecondsMax: 1_000))
    func packet(_ bytes: Int64) -> SegmentStateMachine.Action {
      let action = machine.packet(
        epoch: 0, shape: "s", isKey: true, timeNanoseconds: 0, bytes: bytes)
      if case .open(let reason) = action {
        _ = machine.opened(epoch: 0, timeNanoseconds: 0, reason: reason)
      }
      return action
    }
    #expect(packet(0) == .open(reason: nil))
    let failure = WriteFailure(
      step: .write, file: "f", errorNumber: FileSystem.fileFullNumber)
    #expect(machine.failed(failure, bytes: 600) == .newSegment)
    #expect(packet(0) == .open(reason: failure.word))
    #expect(packet(299) == .write)
    #expect(packet(300) == .open(reason: "limit"))
  }

  /// Packets as `k` (key) or `p`, 100 ns and 10 bytes each; results `o` (open), `w` (write), `l`
  /// (lose). `!` is a failed write, `c` a commit, `e` another epoch.
  private func segments(_ input: String, bytesMax: Int64 = 1_000) -> String {
    var machine = SegmentStateMachine(limits: .init(bytesMax: bytesMax, nanosecondsMax: 1_000))
    var (time, bytes, epoch) = (Int64(0), Int64(0), 0)
    return String(
      input.map { event -> Character in
        switch event {
        case "!":
          let failure = WriteFailure(step: .write, file: "f", errorNumber: 5)
          return machine.failed(failure) == .stop ? "s" : "n"
        case "c":
          machine.committed()
          return "-"
        case "e":
          epoch += 1
          return "-"
        default:
          let action = machine.packet(
            epoch: epoch, shape: "s", isKey: event == "k", timeNanoseconds: time, bytes: bytes)
          let began = time
          time += 100
          bytes += 10
          switch action {
          case .write: return "w"
          case .lose: return "l"
          case .open(let reason):
            _ = machine.opened(epoch: epoch, timeNanoseconds: began, reason: reason)
            bytes = 0
            return "o"
          }
        }
      })
  }

  @Test func `a segment begins with a key packet and ends at its limit`() {
    #expect(segments("pkppkp") == "lowwww")
    #expect(
      segments("kpppppppppppk") == "owwwwwwwwwwwo", "the key comes late: it goes on until then")
    #expect(segments("kppkpkp", bytesMax: 40) == "owwwwow")
    #expect(segments("kpekpepk") == "ow-ow-lo")
  }

  @Test func `what follows a failed write waits for a key packet`() {
    #expect(segments("kpp!ppkp") == "owwnllow")
    #expect(segments("kp!c!c!k") == "own-n-no")
  }

  @Test func `a segment begins even if the one before it fails in its last commit`() {
    var machine = SegmentStateMachine(limits: .init(bytesMax: 1_000, nanosecondsMax: 1_000))
    func packet(_ time: Int64, isKey: Bool) -> SegmentStateMachine.Action {
      machine.packet(epoch: 0, shape: "s", isKey: isKey, timeNanoseconds: time, bytes: 0)
    }
    #expect(packet(0, isKey: true) == .open(reason: nil))
    #expect(machine.opened(epoch: 0, timeNanoseconds: 0, reason: nil) == nil)
    #expect(packet(1_000, isKey: true) == .open(reason: "limit"))
    let failure = WriteFailure(step: .synchronize, file: "f", errorNumber: 5)
    #expect(machine.failed(failure) == .newSegment)
    #expect(
      machine.opened(epoch: 0, timeNanoseconds: 1_000, reason: "limit") == failure.word)
    #expect(packet(1_100, isKey: false) == .write)
  }

  @Test func `segments that fail one after another end the recording`() {
    #expect(segments("kp!kp!kp!") == "ownownows")
    #expect(segments("kp!kpc!kpc!kpc!") == "ownow-now-now-n")
  }

  @Test func `a full disk ends the recording at once`() {
    var machine = SegmentStateMachine(limits: .init(bytesMax: 9, nanosecondsMax: 9))
    let full = WriteFailure(
      step: .synchronize, file: "f", errorNumber: FileSystem.diskFullNumbers.min() ?? 28)
    #expect(machine.failed(full) == .stop)
    #expect(full.isDiskFull)
  }

  @Test func `the container's times rise by whole milliseconds without drifting`() {
    var timeline = ContainerTimeline()
    let times = (0..<91).map { timeline.milliseconds(atNanoseconds: $0 * 33_333_333) }
    #expect(times[90] == 3_000)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test func `leaps in time are cut, backwards and forwards`() {
    var timeline = ContainerTimeline()
    let hour: Int64 = 3_600_000_000_000
    let times = [
      5 * hour, 5 * hour, 5 * hour + 40_000_000, 9 * hour, 9 * hour + 40_000_000, 0,
      40_000_000, Int64.max, Int64.min,
    ]
    .map { timeline.milliseconds(atNanoseconds: $0) }
    #expect(times == [0, 1, 40, 10_040, 10_080, 10_081, 10_121, 20_121, 20_122])
  }

  @Test func `a key frame comes every second, by the frames' own time`() {
    var keys = KeySchedule()
    let second: Int64 = 1_000_000_000
    let frames = (0..<95).map { Int64($0) * second / 30 } + [10 * second, 9 * second]
    let asked = frames.indices.filter { index in
      guard keys.wantsKey(atNanoseconds: frames[index]) else { return false }
      keys.keyMade(atNanoseconds: frames[index])
      return true
    }
    #expect(asked == [0, 30, 60, 90, 95, 96])
  }

  @Test func `a live frame is due at its own distance from the first, an unpaced one at once`() {
    var live = SessionTimeline(pace: .realtime)
    #expect(live.arrival(of: Timestamp(nanoseconds: 700), now: 5_000) == 700)
    #expect(live.dueNanoseconds(Timestamp(nanoseconds: 900), now: 5_010) == 5_200)
    #expect(live.arrival(of: Timestamp(nanoseconds: 900), now: 5_230) == 930)
    #expect(live.time(now: 6_000) == 1_700)
    var unpaced = SessionTimeline(pace: .unpaced)
    #expect(unpaced.arrival(of: Timestamp(nanoseconds: 700), now: 5_000) == 700)
    #expect(unpaced.dueNanoseconds(Timestamp(nanoseconds: 900), now: 5_010) == 5_010)
    #expect(unpaced.arrival(of: Timestamp(nanoseconds: 900), now: 9_000) == 900)
    #expect(unpaced.time(now: 99_000) == 900)
  }

  @Test func `a leap of the date and a suspended machine are noticed, small steps are not`() {
    func anchor(_ seconds: Int64, unix: Int64 = 0, boot: Int64 = 0) -> WallAnchor {
      let time = seconds * 1_000_000_000
      return WallAnchor(
        monotonicNanoseconds: time, unixNanoseconds: time + unix, bootNanoseconds: time + boot,
        uncertaintyNanoseconds: 10)
    }
    let hour: Int64 = 3_600_000_000_000
    var watch = ClockWatch(anchor(10))
    #expect(watch.leaps(at: anchor(11, unix: 90_000_000)) == [])
    #expect(watch.leaps(at: anchor(12, unix: hour)) == [.date(nanoseconds: hour - 90_000_000)])
    #expect(watch.leaps(at: anchor(13, unix: 0)) == [.date(nanoseconds: -hour)])
    #expect(
      watch.leaps(at: anchor(14, unix: 5 * hour, boot: 5 * hour))
        == [.suspended(nanoseconds: 5 * hour)])
    #expect(watch.leaps(at: anchor(15, unix: 5 * hour, boot: 5 * hour)) == [])
  }
}

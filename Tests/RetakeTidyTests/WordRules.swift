import Testing

/// A pattern that must not occur in some of the files.
struct WordRule: Sendable, CustomTestStringConvertible {
  /// The message of a finding: the rule and the remedy.
  var name: String
  var pattern: String
  var readsComments = false
  var applies: @Sendable (SourceFile) -> Bool
  /// A path and a line that break the rule: the planted fault that tests it.
  var planted: (path: String, text: String)

  var testDescription: String { name }

  func findings(in file: SourceFile, code: SwiftCode? = nil) throws -> [Finding] {
    guard applies(file) else { return [] }
    let text = readsComments ? file.text : (code ?? SwiftCode(file.text)).text
    return try LinePattern(pattern).lines(in: text).map {
      Finding(path: file.path, line: $0, rule: name)
    }
  }
}

/// Patterns that must not occur in the code.
enum WordRules {
  static let all: [WordRule] = [
    time, timeless, dates, sleep, events, output, pointers, random, locale, forced, unwrapped,
    unfinished, threads,
  ]

  static let time = WordRule(
    name: "only WallClock.swift reads real time",
    pattern: #"\b(ContinuousClock|SuspendingClock|DispatchTime|DispatchWallTime)\b"#
      + #"|\bDate(\(\)|\.now\b|\(timeIntervalSinceNow)|\.systemUptime\b|\bclock_gettime(_nsec_np)?\("#
      + #"|\b(gettimeofday|mach_absolute_time|av_gettime\w*|CFAbsoluteTimeGetCurrent)\("#
      + #"|(?<![\w.])(time|clock)\((nil)?\)"#,
    applies: { isSource($0) && $0.name != "WallClock.swift" },
    planted: ("Sources/Engine/RetakeRuntime/Driver.swift", "let start = ContinuousClock.now"))

  /// Modules that could read a clock, start a thread, or read a file are not in scope there.
  static let timeless = WordRule(
    name: "the time plane imports no Foundation, Dispatch or Synchronization",
    pattern: #"^[ \t]*(@\w+ )*(\w+ )?import "#
      + #"(Foundation\w*|Dispatch|Synchronization|Glibc|Darwin)\b"#,
    applies: { isSource($0) && $0.target == "RetakeTimePlane" },
    planted: ("Sources/Engine/RetakeTimePlane/Turn.swift", "import Foundation"))

  /// The timeouts of Dispatch's semaphores and groups go by the date on Linux.
  static let dates = WordRule(
    name: "no wait goes by the date; use a ThreadCondition and a clock",
    pattern: #"\bwait\((wallTimeout|timeout):"#,
    applies: isSource,
    planted: (
      "Sources/Sessions/RetakeReplay/LineStream.swift",
      "_ = ended.wait(timeout: .now() + .seconds(2))"
    ))

  static let sleep = WordRule(
    name: "nothing sleeps; live waiting is WallClock.swift's",
    // A `clock` that tests have is RetakeClock's.
    pattern: #"(?<!\bclock\.)\b(u|nano|clock_nano)?sleep\("#,
    applies: {
      let isAllowed = $0.name == "WallClock.swift" || $0.target == "RetakeClock"
      return isSource($0) && !isAllowed || $0.folders.first == "Tests"
    },
    planted: (
      "Tests/RetakeRuntimeTests/DriverTests.swift", "try await Task.sleep(for: .seconds(1))"
    ))

  /// libdispatch's event loop on Linux can end the process if several threads create and cancel its
  /// sources. Foundation's `Process`, the handlers of file handles and URLSession depend on it.
  static let events = WordRule(
    name: "no event sources of libdispatch; use ChildProcess, ChildPipe, SignalPipe or a thread",
    pattern: #"\bDispatch(Source\w*|IO)\b|\b(read|write)abilityHandler\b|\bterminationHandler\b"#
      + #"|\b\w+InBackgroundAndNotify\b|\.asyncAfter\(|\bURLSession\b"#
      + #"|(?<![\w.])(Foundation\.)?Process(\(\)|\.run\(|\.init\(|\?|(?<=: Process)(?!\w))"#,
    applies: { isSource($0) || isExample($0) || $0.folders.first == "Tests" },
    planted: ("Tests/RetakeTestSupport/RunCommand.swift", "  let process = Process()"))

  static let output = WordRule(
    name: "nothing below the suite prints or exits; return a value",
    pattern: #"(?<![\w.])((Foundation|Glibc|Darwin|Swift)\.)?"#
      + #"(print|debugPrint|dump|exit|_exit|quick_exit|abort|puts|fputs|putchar|printf|fprintf)\("#
      + #"|\bFileHandle\.standard(Output|Error)\b|\bSTD(OUT|ERR)_FILENO\b"#,
    applies: { file in
      // The file that ends the process prints the reason.
      let isLastWord = file.path == "Sources/Engine/RetakeCore/Requirement.swift"
      return isSource(file) && !isLastWord && !mayPrint(file)
    },
    planted: ("Sources/Judge/RetakeGolden/Store.swift", #"  print("accepted")"#))

  static let pointers = WordRule(
    name: "pointers live in an Unsafe/ folder",
    pattern:
      #"\bUnsafe(Mutable)?(Raw)?(Buffer)?Pointer\b|\b(AutoreleasingUnsafe|COpaque)\w*Pointer\b"#
      + #"|\bwithUnsafe\w+|\bUnmanaged\b|\bOpaquePointer\b|\bunsafe(BitCast|Downcast)\b"#
      + #"|\.pointee\b|\.baseAddress\b|\bunowned\(unsafe\)"#,
    applies: { (isSource($0) || isExample($0)) && !$0.isUnsafe },
    planted: (
      "Sources/Engine/RetakeStages/Grey.swift",
      "func luma(_ row: UnsafeRawBufferPointer) -> Int { 0 }"
    ))

  static let random = WordRule(
    name: "the time plane draws nothing at random and uses no per-process hash",
    pattern: #"\bSystemRandomNumberGenerator\b|\.random\(|\.randomElement\(|\.shuffled?\("#
      + #"|\bUUID\(\)|\b(arc4random\w*|drand48|s?rand|getrandom|getentropy)\("#
      + #"|\.hashValue\b|\bHasher\(\)"#,
    applies: { isSource($0) && timePlane.contains($0.target) },
    planted: ("Sources/Engine/RetakeGraph/Node.swift", "let draw = Double.random(in: 0..<1)"))

  static let locale = WordRule(
    name: "no result depends on the machine's locale or time zone",
    pattern: #"\b(Locale|TimeZone|Calendar)\.(current|autoupdatingCurrent)\b|\.formatted\("#
      + #"|\b(Number|Date|ByteCount|Measurement|DateComponents)Formatter\b|\.localized[A-Z]\w*Compare"#,
    applies: isSource,
    planted: ("Sources/Judge/RetakeReport/Numbers.swift", "let text = rate.formatted()"))

  static let forced = WordRule(
    name: "errors are thrown or handled, never forced",
    pattern: #"\btry!|\bas!|\bfatalError\("#,
    applies: { isSource($0) || isExample($0) },
    planted: ("Sources/Judge/RetakeSuite/Suite.swift", "let file = try! load()"))

  static let unwrapped = WordRule(
    name: "no force unwrap outside an Unsafe/ folder",
    pattern: #"(?<!\btry|\bas)(?<=[\w)\]}"?])!(?!=)"#,
    applies: { (isSource($0) || isExample($0)) && !$0.isUnsafe },
    planted: ("Sources/Engine/RetakeMedia/Demuxer.swift", "let first = tracks.first!"))

  static let unfinished = WordRule(
    name: "nothing is left unfinished",
    pattern: #"\b(TODO|FIXME|XXX)\b"#, readsComments: true,
    applies: { isSource($0) || isExample($0) || $0.folders.first == "Scripts" },
    planted: ("Sources/Sessions/RetakeStore/Reader.swift", "// " + "TO" + "DO: migrations"))

  /// libdispatch waits for ever if the system has no free thread.
  static let threads = WordRule(
    name: "work is divided by NamedThread.concurrently, which goes on without threads",
    pattern: #"\bconcurrentPerform\b"#,
    applies: isSource,
    planted: (
      "Sources/Sessions/RetakeSession/Finder.swift",
      "DispatchQueue.concurrentPerform(iterations: 2) { work($0) }"
    ))

  static let timePlane = [
    "RetakeCore", "RetakeBuffers", "RetakeGraph", "RetakeTimePlane", "RetakeRuntime",
    "RetakeStages", "RetakeCompare", "RetakeGolden",
  ]

  private static func mayPrint(_ file: SourceFile) -> Bool {
    guard let layer = Layers.layer(of: file.path) else { return false }
    let isAbove = Layers.order.suffix(2).contains(layer.name) && file.target != "RetakeClock"
    return isAbove || Layers.printing.contains(file.target)
  }

  @Sendable static func isSource(_ file: SourceFile) -> Bool { file.folders.first == "Sources" }
  @Sendable static func isExample(_ file: SourceFile) -> Bool { file.folders.first == "Examples" }
}

/// Code that bypasses the compiler's checks says why that is safe.
enum SafetyRule {
  static func findings(in file: SourceFile) throws -> [Finding] {
    guard file.folders.first == "Sources", !file.text.contains("// SAFETY:") else { return [] }
    if file.isUnsafe {
      return [Finding(path: file.path, line: 0, rule: "a file in Unsafe/ has a SAFETY sentence")]
    }
    guard !file.text.contains("// @unchecked:") else { return [] }
    return try LinePattern(#"@unchecked\b|\bnonisolated\(unsafe\)"#)
      .lines(in: SwiftCode(file.text).text)
      .map {
        Finding(path: file.path, line: $0, rule: "an unchecked promise says why: // @unchecked: …")
      }
  }
}

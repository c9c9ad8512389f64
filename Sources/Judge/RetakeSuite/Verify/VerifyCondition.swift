package import RetakeMedia
package import RetakeRuntime

/// One way to run a case. No condition may change a result.
package struct VerifyCondition: Hashable, Sendable, Codable {
  /// The content of memory before it is written.
  package enum Memory: String, Hashable, Sendable, Codable {
    case asItIs
    /// The memory of frames is filled with a pattern before a decoder or a stage gets it.
    case poisonedFrames
    /// Everything that comes from the heap is filled, too.
    case poisonedHeap
  }

  /// A separate process, for conditions that are fixed when a process starts.
  package struct NewProcess: Hashable, Sendable, Codable {
    package enum HashSeed: String, Hashable, Sendable, Codable {
      /// The same in every such process.
      case fixed
      /// Drawn again for each process, as processes do by default.
      case drawn
    }

    package var hashSeed: HashSeed
    package var processor: ProcessorFeatures
    /// How many threads numerical libraries in programs use; as usual if `nil`.
    package var programThreads: Int?
  }

  /// The name in words, such as `4 workers, random delays`.
  package var name: String
  package var workers = 2
  /// The seed of the delays before each computation; no delays if `nil`.
  package var delaySeed: UInt64?
  package var memory = Memory.asItIs
  /// Whether stages that can compute the frames of a batch in one call.
  package var callsBatches = true
  /// `nil` means in the process that verifies.
  package var process: NewProcess?

  /// Whether the processor has fewer instructions than the machine. Values may differ there, and
  /// the stage is then reported as platform-dependent.
  package var isOtherPlatform: Bool { process.map { $0.processor != .all } ?? false }
}

extension VerifyCondition {
  /// The run that all in-process runs are compared with.
  static let first = VerifyCondition(name: "2 workers")

  static let inProcess = [
    VerifyCondition(name: "no workers", workers: 0),
    VerifyCondition(name: "1 worker", workers: 1),
    VerifyCondition(name: "2 workers, random delays", delaySeed: 1),
    VerifyCondition(name: "2 workers, poisoned memory of frames", memory: .poisonedFrames),
    VerifyCondition(name: "4 workers", workers: 4),
    VerifyCondition(name: "4 workers, random delays", workers: 4, delaySeed: 2),
    VerifyCondition(name: "8 workers, random delays", workers: 8, delaySeed: 3),
  ]

  /// Only for pipelines in which a stage computes batches in one call; compared with the first run.
  static let oneByOne = VerifyCondition(name: "frames of batches one by one", callsBatches: false)

  /// Compared with the first run. The conditions below are compared with this one, so that an
  /// effect of the order of a Dictionary is not attributed to memory or to the processor.
  static let baseline = VerifyCondition(
    name: "a new process, fixed hash seed", process: NewProcess(hashSeed: .fixed, processor: .all))

  /// The conditions for this machine, in this order. A condition without an effect on this machine
  /// is omitted. No condition is about caches: no run of verify uses a cache.
  static var newProcess: [VerifyCondition] {
    let fixed = { NewProcess(hashSeed: .fixed, processor: $0) }
    var conditions = [
      baseline,
      VerifyCondition(
        name: "a new process, another hash seed",
        process: NewProcess(hashSeed: .drawn, processor: .all)),
    ]
    #if canImport(Glibc)
      conditions.append(
        VerifyCondition(
          name: "a new process, poisoned heap", memory: .poisonedHeap, process: fixed(.all)))
    #endif
    if ProcessorFeatures.withoutAVX.isReduced {
      conditions.append(
        VerifyCondition(name: "a processor without AVX and FMA", process: fixed(.withoutAVX)))
    }
    if ProcessorFeatures.none.isReduced {
      conditions.append(
        VerifyCondition(name: "a processor without vector instructions", process: fixed(.none)))
    }
    return conditions
  }

  /// Only for pipelines that start programs, which use one thread otherwise; compared with
  /// `baseline`.
  static let programThreads = VerifyCondition(
    name: "a new process, 4 threads in programs",
    process: NewProcess(hashSeed: .fixed, processor: .all, programThreads: 4))

  /// The condition that a process was started for.
  package static func newProcess(named name: String) -> VerifyCondition? {
    (newProcess + [programThreads]).first { $0.name == name }
  }
}

extension VerifyCondition {
  /// The environment of a separate process.
  func environment(from inherited: [String: String]) -> [String: String] {
    guard let process else { return inherited }
    var environment = inherited
    // If the process crashes, its last line of output is of more use than a dump of all registers.
    environment["SWIFT_BACKTRACE"] = inherited["SWIFT_BACKTRACE"] ?? "enable=no"
    // Removed for a drawn seed, because this process may have been started with it.
    environment["SWIFT_DETERMINISTIC_HASHING"] = process.hashSeed == .fixed ? "1" : nil
    // For stages in Python, which otherwise get a seed that is always the same.
    if process.hashSeed == .drawn { environment["PYTHONHASHSEED"] = "random" }
    // The libraries that programs use for numbers read one of these.
    if let threads = process.programThreads {
      for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"] {
        environment[name] = "\(threads)"
      }
    }
    // After the user's own tunables, which stay in force.
    let tunables = [environment["GLIBC_TUNABLES"] ?? ""] + heapTunables + processorTunables
    environment["GLIBC_TUNABLES"] = tunables.filter { !$0.isEmpty }.joined(separator: ":")
    return environment
  }

  /// Small blocks in a thread's own cache would not be filled, so that cache is turned off.
  private var heapTunables: [String] {
    memory == .poisonedHeap ? ["glibc.malloc.perturb=165", "glibc.malloc.tcache_count=0"] : []
  }

  /// glibc selects its exp, sin and pow by these features.
  private var processorTunables: [String] {
    #if arch(x86_64)
      return isOtherPlatform ? ["glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-FMA4"] : []
    #else
      return []
    #endif
  }
}

extension RunOptions {
  package func under(_ condition: VerifyCondition) -> RunOptions {
    var options = self
    options.workers = condition.workers
    options.perturbation = condition.delaySeed
    options.poisonsMemory = condition.memory != .asItIs
    options.callsBatches = condition.callsBatches
    return options
  }
}

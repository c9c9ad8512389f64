/// The likely cause of a difference, from the conditions that made a difference and the conditions
/// that did not.
extension VerifyReport {
  package enum Suspect: String, Hashable, Sendable, Codable {
    case engine
    case clockOrSharedState
    case hashSeed
    case memory
    case processor
    /// How many threads a program computes with.
    case threads
  }

  /// `nil` if no result differs.
  package var suspect: Suspect? {
    guard let divergence = firstDivergence else { return nil }
    let differing = variations.filter { $0.outcome == .different }
    // Something differs, so all that differs is platform-dependent.
    if differing.isEmpty { return .processor }
    // A stage can only return another value. Decisions, and the frames that sinks receive, are
    // Retake's work.
    if divergence.kind != .value { return .engine }
    // Compared with its own repetition (`Runs.confirm`): only time has passed between the two.
    if differing.contains(where: { $0.comparedWith == $0.condition.name }) {
      return .clockOrSharedState
    }
    if differing.allSatisfy({ $0.condition.isOtherPlatform }) { return .processor }
    if differing.allSatisfy({ $0.condition.memory != .asItIs }) { return .memory }
    if differing.allSatisfy({ $0.condition.process?.programThreads != nil }) { return .threads }
    return isSameForOneHashSeed ? .hashSeed : .clockOrSharedState
  }

  /// Whether processes differ from the first run, but not among each other if they have the same
  /// hash seed.
  private var isSameForOneHashSeed: Bool {
    let processes = variations.filter { $0.condition.process != nil }
    let alike = processes.filter { $0.comparedWith == VerifyCondition.baseline.name }
    let others = processes.filter { $0.comparedWith != VerifyCondition.baseline.name }
    return alike.contains { $0.outcome == .same } && alike.allSatisfy { $0.outcome != .different }
      && others.contains { $0.outcome == .different }
  }

  /// The next step of a search for the cause, in words.
  package var advice: String? {
    guard let suspect, let divergence = firstDivergence else { return nil }
    let stage = divergence.stage.map { "'\($0)'" } ?? "the engine"
    switch suspect {
    case .engine:
      return "write the decisions of two runs with 'retake replay --decisions FILE', once with "
        + "'--workers 0' and once with '--workers 4', and report them: this is a defect of Retake"
    case .clockOrSharedState, .hashSeed, .memory, .threads:
      var look = divergence.isProgram ? Self.programAdvice : Self.stageAdvice
      if divergence.isLoop { look.merge(Self.loopAdvice) { _, ofLoop in ofLoop } }
      return "look in \(divergence.isProgram ? "the program of \(stage)" : stage) for "
        + (look[suspect] ?? "")
    case .processor:
      let look = "look in \(stage) for exp, log, sin, pow and vector instructions"
      return divergence.decision == nil
        ? "\(look), or keep goldens for each platform: only other processors differ"
        : "\(look): a decision depends on the value, and decisions are the same everywhere"
    }
  }

  private static let stageAdvice: [Suspect: String] = [
    .clockOrSharedState: "clocks, random numbers, and state that frames share; a stage that "
      + "remembers is a StatefulStage",
    .hashSeed: "the order of a Dictionary or Set, and for hashValue: processes with one hash seed "
      + "do not differ",
    .memory: "bytes that are read before anything is written to them, such as the padding of rows "
      + "or rows of an output that it leaves out: only poisoned memory differs",
    .threads: "threads that share the work: only another number of threads differs",
  ]

  private static let programAdvice: [Suspect: String] = [
    .clockOrSharedState: "clocks (use the frame's ptsNs, frame.pts in Python), random numbers "
      + "without a seed, threads whose order matters, and state from earlier frames or runs: a "
      + "stage that remembers declares state: stateful, a retake.Program clears its state in "
      + "reset",
    .hashSeed: "the order of a set, and for hash() of strings: with PYTHONHASHSEED=0 it does not "
      + "differ",
    .memory: "bytes of a slot outside of the visible rows, and memory that is read before anything "
      + "is written to it: only poisoned memory differs",
    .threads: "sums and other work that threads share, such as in numpy, OpenCV or PyTorch: it "
      + "differs only with OMP_NUM_THREADS=4. Set the number of threads to 1 in the program",
  ]

  /// For scripts under `retake.loop`, in place of the advice for programs.
  private static let loopAdvice: [Suspect: String] = [
    .clockOrSharedState: "random numbers without a seed (random.seed(0), numpy.random.seed(0), "
      + "cv2.setRNGSeed(0), torch.manual_seed(0)), os.urandom, the order of a set of objects, "
      + "files that an earlier run wrote, and processes of subprocess: time.time() and "
      + "cap.get(cv2.CAP_PROP_POS_MSEC) are virtual, and the clocks of libraries in C and of other "
      + "programs are not",
    .memory: "arrays that are read before anything is written to them, such as those of "
      + "numpy.empty: only poisoned memory differs",
    .threads: "sums and other work that threads share, such as in numpy, OpenCV or PyTorch: it "
      + "differs only with OMP_NUM_THREADS=4. Call cv2.setNumThreads(1) or "
      + "torch.set_num_threads(1) at the start of the script",
  ]
}

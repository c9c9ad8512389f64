import Foundation
import Retake

/// A correct stage.
struct Pure: PureStage {
  static let kind = "pure"
  init() {}
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) -> Scalars { input }
}

/// Its value depends on when it runs.
struct ReadsClock: PureStage {
  static let kind = "readsClock"
  init() {}
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) -> Scalars {
    Scalars([.init("now", ProcessInfo.processInfo.systemUptime)])
  }
}

/// Its value depends on the order of a dictionary, which differs between processes.
struct OrdersByHash: PureStage {
  static let kind = "ordersByHash"
  private static let weights = Dictionary(
    uniqueKeysWithValues: (0..<1_000).map { ("word \($0)", $0) })

  init() {}
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) -> Scalars {
    Scalars([.init("first", Double(Self.weights.values.first ?? 0))])
  }
}

/// Its values depend on the processor, through the C library's math functions.
struct Mathematics: PureStage {
  static let kind = "mathematics"
  init() {}
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) -> Scalars {
    Scalars(
      (0..<500).map { index in
        let x = Double(index + context.frame.sequence) * 0.37
        return .init("y\(index)", exp(sin(x)))
      })
  }
}

/// Whether it fails depends on the processor, and therefore so does a decision of virtual time.
struct FailsByMathematics: PureStage {
  static let kind = "failsByMathematics"
  init() {}
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) throws -> Scalars {
    let values = Mathematics().process(input, context).entries
    guard values.reduce(0, { $0 ^ $1.value.bitPattern }).isMultiple(of: 2) else {
      throw StageError(code: "odd", message: "the last bits are odd together")
    }
    return input
  }
}

/// Its value depends on a clock, but only if the processor has fewer instructions.
struct ReadsClockElsewhere: PureStage {
  static let kind = "readsClockElsewhere"
  init() {}
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) -> Scalars {
    let tunables = ProcessInfo.processInfo.environment["GLIBC_TUNABLES"] ?? ""
    return tunables.contains("hwcaps") ? ReadsClock().process(input, context) : input
  }
}

/// Its value depends on the previous content of its memory.
struct ReadsOldMemory: PureStage {
  static let kind = "readsOldMemory"
  init() {}
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) -> Scalars {
    // So large that every array is a separate mapping, which the system fills with zeros.
    let count = 1 << 26
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { $1 = count }
    return Scalars([.init("old", Double(bytes[count / 2]))])
  }
}

/// Its value depends on the bytes between the rows of a decoded image.
struct ReadsPadding: PureStage {
  static let kind = "readsPadding"
  init() {}
  init(options: NoOptions) {}

  func process(_ input: Frame, _ context: StageContext) -> Scalars {
    let plane = input.storage.planes[0]
    let rows = 0..<input.height - 1
    let padding = rows.flatMap { row in
      (input.width..<plane.stride).map { Int(plane.base[row * plane.stride + $0]) }
    }
    return Scalars([.init("padding", Double(padding.reduce(0, +)))])
  }
}

/// Leaves the lower half of its output unwritten. The frames are the same, so memory that was used
/// before has the earlier output.
struct LeavesRows: PureStage {
  static let kind = "leavesRows"
  init() {}
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) -> Frame {
    var output = context.makeFrame(format: .gray, width: 72, height: 48)
    output.forEachRow(of: 0) { row, bytes in
      if row < 24 { for x in bytes.indices { bytes[x] = 0 } }
    }
    return output.finish()
  }
}

/// Crashes in the processes that verify starts.
struct DiesElsewhere: PureStage {
  static let kind = "diesElsewhere"
  init() {}
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) -> Scalars {
    if CommandLine.arguments.contains("--trace") {
      FileHandle.standardError.write(Data("these were my last words\n".utf8))
      abort()
    }
    return input
  }
}

/// Never returns in the processes that verify starts. Their process id is then in a file.
struct HangsElsewhere: PureStage {
  static let kind = "hangsElsewhere"
  init() {}
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) -> Scalars {
    guard CommandLine.arguments.contains("--trace") else { return input }
    let id = Data("\(ProcessInfo.processInfo.processIdentifier)".utf8)
    _ = FileManager.default.createFile(atPath: "hanging", contents: id)
    DispatchSemaphore(value: 0).wait()
    return input
  }
}

/// Never returns from its second frame.
struct Hangs: PureStage {
  static let kind = "hangs"
  init() {}
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) -> Scalars {
    if context.frame.sequence == 1 { DispatchSemaphore(value: 0).wait() }
    return input
  }
}

/// Halts the run at its first frame.
struct Halts: PureStage {
  static let kind = "halts"
  init() {}
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) throws -> Scalars {
    throw StageError(code: "model.gone", message: "the model is gone", severity: .unrecoverable)
  }
}

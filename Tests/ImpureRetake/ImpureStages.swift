import Foundation
import Retake

/// As a stage must be.
struct Pure: PureStage {
  static let kind = "pure"
  init() {}
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) -> Scalars { input }
}

/// Its value hangs on when it runs.
struct ReadsClock: PureStage {
  static let kind = "readsClock"
  init() {}
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) -> Scalars {
    Scalars([.init("now", ProcessInfo.processInfo.systemUptime)])
  }
}

/// Its value hangs on the order of a dictionary, which is another one in another process.
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

/// Its values hang on the processor, by way of the C library's mathematics.
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

/// Whether it fails hangs on the processor, and so does a decision of virtual time.
struct FailsByMathematics: PureStage {
  static let kind = "failsByMathematics"
  init() {}
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) throws(StageError) -> Scalars {
    let values = Mathematics().process(input, context).entries
    guard values.reduce(0, { $0 ^ $1.value.bitPattern }).isMultiple(of: 2) else {
      throw StageError(code: "odd", message: "the last bits are odd together")
    }
    return input
  }
}

/// Its value hangs on a clock, but only where the processor's instructions are fewer.
struct ReadsClockElsewhere: PureStage {
  static let kind = "readsClockElsewhere"
  init() {}
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) -> Scalars {
    let tunables = ProcessInfo.processInfo.environment["GLIBC_TUNABLES"] ?? ""
    return tunables.contains("hwcaps") ? ReadsClock().process(input, context) : input
  }
}

/// Its value hangs on what was in its memory before.
struct ReadsOldMemory: PureStage {
  static let kind = "readsOldMemory"
  init() {}
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) -> Scalars {
    // So large that every array is memory of its own, which the system hands out empty.
    let count = 1 << 26
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { $1 = count }
    return Scalars([.init("old", Double(bytes[count / 2]))])
  }
}

/// Its value hangs on the bytes between the rows of a decoded picture.
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

/// Ends the processes that verify starts.
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

/// Never comes back in the processes that verify starts; their id is in a file then.
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

/// Never comes back from its second frame.
struct Hangs: PureStage {
  static let kind = "hangs"
  init() {}
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) -> Scalars {
    if context.frame.sequence == 1 { DispatchSemaphore(value: 0).wait() }
    return input
  }
}

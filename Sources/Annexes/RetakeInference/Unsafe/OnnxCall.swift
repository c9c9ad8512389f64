/// One call of a session.
struct OnnxCall {
  // SAFETY: the library reads the tensors in place while the call lasts, and the caller keeps their
  // arrays. The library never writes to an input. Each output is copied, and every value is
  // released when its owner ends, also when a later step fails.

  let library: OnnxLibrary
  let outputs: [ModelPort]

  private var functions: OnnxFunctions { library.functions }

  func run(
    _ session: OpaquePointer, _ tensors: [ModelTensor], inputNames: borrowing NameList,
    outputNames: borrowing NameList
  ) throws -> [ModelTensor] {
    let results = ValueList(count: outputs.count, release: functions.releaseValue)
    let inputs = ValueList(count: tensors.count, release: functions.releaseValue)
    let names = (inputNames.pointer, outputNames.pointer)
    try withValues(of: tensors, from: 0, in: inputs) {
      try functions.check(
        functions.run(
          session, nil, names.0, inputs.pointer, tensors.count, names.1, outputs.count,
          results.pointer))
    }
    var tensors: [ModelTensor] = []
    tensors.reserveCapacity(outputs.count)
    for (index, port) in outputs.enumerated() {
      tensors.append(try tensor(results.pointer[index], port))
    }
    return tensors
  }

  /// Makes a value of each tensor from `index` on, and calls `body` while their arrays stay in
  /// place. Its depth is the number of inputs, which `OnnxModel` bounds.
  private func withValues(
    of tensors: [ModelTensor], from index: Int, in values: borrowing ValueList,
    _ body: () throws -> Void
  ) throws {
    guard index < tensors.count else { return try body() }
    let tensor = tensors[index]
    let slot = values.pointer + index
    try tensor.elements.withBytes { bytes in
      try functions.check(value(tensor, bytes, slot))
      try withValues(of: tensors, from: index + 1, in: values, body)
    }
  }

  private func value(
    _ tensor: ModelTensor, _ bytes: UnsafeRawBufferPointer, _ slot: OnnxFunctions.Out
  ) -> OnnxFunctions.Status {
    let shape = tensor.shape.map(Int64.init)
    return functions.createTensor(
      library.memoryInfo, UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count, shape,
      shape.count, tensor.elements.type.onnx, slot)
  }

  private func tensor(_ value: OpaquePointer?, _ port: ModelPort) throws -> ModelTensor {
    guard let value else { throw OnnxFailure(message: "the output '\(port.name)' is empty") }
    let kind: Int32 = try functions.number { functions.valueType(value, $0) }
    guard kind == OnnxType.tensor else {
      throw OnnxFailure(message: "the output '\(port.name)' is a \(OnnxType.kindName(kind))")
    }
    let info = try functions.make(functions.releaseTensorInfo) { functions.typeAndShape(value, $0) }
    let element: Int32 = try functions.number { functions.elementType(info.pointer, $0) }
    guard let type = ModelTensor.ElementType(onnx: element) else {
      throw OnnxFailure(
        message: "the output '\(port.name)' is of the type \(OnnxType.elementName(element))")
    }
    let shape = try functions.shape(info.pointer).map { Int($0) }
    let bytes = shape.boundedProduct(times: type.byteCount, max: OnnxModel.tensorBytesMax)
    guard let bytes else {
      throw OnnxFailure(
        message: "the output '\(port.name)' has the shape \(shape); at most "
          + "\(OnnxModel.tensorBytesMax) bytes are returned")
    }
    var data: UnsafeMutableRawPointer?
    try functions.check(functions.tensorData(value, &data))
    // A tensor without elements may have no memory.
    guard let data, bytes > 0 else {
      return ModelTensor(type.elements(nil, bytes: 0), shape: shape)
    }
    return ModelTensor(type.elements(data, bytes: bytes), shape: shape)
  }
}

/// Values of the library, in an array that it reads or fills.
struct ValueList: ~Copyable {
  // SAFETY: this value allocated the array, and owns each value that the library puts into it.
  let pointer: UnsafeMutablePointer<OpaquePointer?>
  private let count: Int
  private let release: OnnxFunctions.Release

  init(count: Int, release: @escaping OnnxFunctions.Release) {
    self.count = count
    self.release = release
    pointer = .allocate(capacity: max(1, count))
    pointer.initialize(repeating: nil, count: max(1, count))
  }

  deinit {
    for index in 0..<count {
      if let value = pointer[index] { release(value) }
    }
    pointer.deallocate()
  }
}

extension ModelTensor.Elements {
  fileprivate func withBytes(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    switch self {
    case .float(let values): try values.withUnsafeBytes(body)
    case .double(let values): try values.withUnsafeBytes(body)
    case .uint8(let values): try values.withUnsafeBytes(body)
    case .int32(let values): try values.withUnsafeBytes(body)
    case .int64(let values): try values.withUnsafeBytes(body)
    }
  }
}

extension ModelTensor.ElementType {
  /// A copy of the elements.
  fileprivate func elements(_ data: UnsafeRawPointer?, bytes: Int) -> ModelTensor.Elements {
    // SAFETY: the library says that the memory has this type and this number of bytes.
    func copy<Element>(_: Element.Type) -> [Element] {
      let count = bytes / byteCount
      return Array(
        UnsafeBufferPointer(
          start: data?.assumingMemoryBound(to: Element.self), count: data == nil ? 0 : count))
    }
    switch self {
    case .float: return .float(copy(Float.self))
    case .double: return .double(copy(Double.self))
    case .uint8: return .uint8(copy(UInt8.self))
    case .int32: return .int32(copy(Int32.self))
    case .int64: return .int64(copy(Int64.self))
    }
  }
}

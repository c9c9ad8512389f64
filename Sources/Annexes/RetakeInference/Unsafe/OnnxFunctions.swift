/// The functions of ONNX Runtime that are used, by their slots in its table.
///
/// The library is loaded by name, so its header is not needed. The table has the order of `OrtApi`
/// in onnxruntime_c_api.h; the order is frozen, and functions are only appended.
struct OnnxFunctions: @unchecked Sendable {
  // SAFETY: @unchecked because C functions are not Sendable; the table never changes after it is
  // created, and the library stays loaded for as long as the process lives. Each type below is the
  // function's declaration in the header of version 1.16.
  typealias Object = OpaquePointer
  typealias Out = UnsafeMutablePointer<OpaquePointer?>
  typealias Status = OpaquePointer?
  typealias Text = UnsafePointer<CChar>
  typealias TextOut = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  typealias Texts = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  typealias Count = UnsafeMutablePointer<Int>
  typealias Number = UnsafeMutablePointer<Int32>
  typealias Release = @convention(c) (OpaquePointer) -> Void

  let getErrorMessage: @convention(c) (Object) -> Text
  let createEnv: @convention(c) (Int32, Text, Out) -> Status
  let createSessionFromArray: @convention(c) (Object, UnsafeRawPointer, Int, Object, Out) -> Status
  let run:
    @convention(c) (
      Object, Object?, UnsafePointer<Text?>, UnsafePointer<OpaquePointer?>, Int,
      UnsafePointer<Text?>, Int, Out
    ) -> Status
  let createSessionOptions: @convention(c) (Out) -> Status
  let setExecutionMode: @convention(c) (Object, Int32) -> Status
  let disableMemPattern: @convention(c) (Object) -> Status
  let setOptimizationLevel: @convention(c) (Object, Int32) -> Status
  let setIntraOpThreads: @convention(c) (Object, Int32) -> Status
  let setInterOpThreads: @convention(c) (Object, Int32) -> Status
  let inputCount: @convention(c) (Object, Count) -> Status
  let outputCount: @convention(c) (Object, Count) -> Status
  let inputTypeInfo: @convention(c) (Object, Int, Out) -> Status
  let outputTypeInfo: @convention(c) (Object, Int, Out) -> Status
  let inputName: @convention(c) (Object, Int, Object, TextOut) -> Status
  let outputName: @convention(c) (Object, Int, Object, TextOut) -> Status
  let createTensor:
    @convention(c) (
      Object, UnsafeMutableRawPointer?, Int, UnsafePointer<Int64>?, Int, Int32, Out
    ) -> Status
  let tensorData: @convention(c) (Object, UnsafeMutablePointer<UnsafeMutableRawPointer?>) -> Status
  let tensorInfo: @convention(c) (Object, Out) -> Status
  let onnxType: @convention(c) (Object, Number) -> Status
  let elementType: @convention(c) (Object, Number) -> Status
  let dimensionCount: @convention(c) (Object, Count) -> Status
  let dimensions: @convention(c) (Object, UnsafeMutablePointer<Int64>?, Int) -> Status
  let typeAndShape: @convention(c) (Object, Out) -> Status
  let valueType: @convention(c) (Object, Number) -> Status
  let createCPUMemoryInfo: @convention(c) (Int32, Int32, Out) -> Status
  let allocatorFree: @convention(c) (Object, UnsafeMutableRawPointer) -> Status
  let defaultAllocator: @convention(c) (Out) -> Status
  let metadata: @convention(c) (Object, Out) -> Status
  let metadataValue: @convention(c) (Object, Object, Text, TextOut) -> Status
  let metadataKeys:
    @convention(c) (
      Object, Object, UnsafeMutablePointer<Texts?>, UnsafeMutablePointer<Int64>
    ) -> Status
  let availableProviders: @convention(c) (UnsafeMutablePointer<Texts?>, Number) -> Status
  let releaseProviders: @convention(c) (Texts, Int32) -> Status
  let setOption: @convention(c) (Object, Text, Text) -> Status
  let appendTensorRT: @convention(c) (Object, Object) -> Status
  let createTensorRTOptions: @convention(c) (Out) -> Status
  let updateTensorRTOptions:
    @convention(c) (Object, UnsafePointer<Text?>, UnsafePointer<Text?>, Int) -> Status
  let appendCUDA: @convention(c) (Object, Object) -> Status
  let createCUDAOptions: @convention(c) (Out) -> Status
  let appendProvider:
    @convention(c) (Object, Text, UnsafePointer<Text?>?, UnsafePointer<Text?>?, Int) -> Status

  let releaseStatus: Release
  let releaseMemoryInfo: Release
  let releaseSession: Release
  let releaseValue: Release
  let releaseTypeInfo: Release
  let releaseTensorInfo: Release
  let releaseSessionOptions: Release
  let releaseMetadata: Release
  let releaseTensorRTOptions: Release
  let releaseCUDAOptions: Release

  /// A slot without a function, which no version of the library has.
  struct EmptySlot: Error, Hashable {
    let number: Int
  }

  init(_ table: UnsafePointer<UnsafeRawPointer?>) throws {
    func slot<Function>(_ number: Int) throws -> Function {
      guard let function = table[number] else { throw EmptySlot(number: number) }
      // SAFETY: the type is the function's declaration, see above.
      return unsafeBitCast(function, to: Function.self)
    }
    getErrorMessage = try slot(2)
    createEnv = try slot(3)
    createSessionFromArray = try slot(8)
    run = try slot(9)
    createSessionOptions = try slot(10)
    setExecutionMode = try slot(13)
    disableMemPattern = try slot(17)
    setOptimizationLevel = try slot(23)
    setIntraOpThreads = try slot(24)
    setInterOpThreads = try slot(25)
    inputCount = try slot(30)
    outputCount = try slot(31)
    inputTypeInfo = try slot(33)
    outputTypeInfo = try slot(34)
    inputName = try slot(36)
    outputName = try slot(37)
    createTensor = try slot(49)
    tensorData = try slot(51)
    tensorInfo = try slot(55)
    onnxType = try slot(56)
    elementType = try slot(60)
    dimensionCount = try slot(61)
    dimensions = try slot(62)
    typeAndShape = try slot(65)
    valueType = try slot(67)
    createCPUMemoryInfo = try slot(69)
    allocatorFree = try slot(76)
    defaultAllocator = try slot(78)
    metadata = try slot(111)
    metadataValue = try slot(116)
    metadataKeys = try slot(123)
    availableProviders = try slot(125)
    releaseProviders = try slot(126)
    setOption = try slot(130)
    appendTensorRT = try slot(170)
    createTensorRTOptions = try slot(171)
    updateTensorRTOptions = try slot(172)
    appendCUDA = try slot(204)
    createCUDAOptions = try slot(205)
    appendProvider = try slot(216)
    releaseStatus = try slot(93)
    releaseMemoryInfo = try slot(94)
    releaseSession = try slot(95)
    releaseValue = try slot(96)
    releaseTypeInfo = try slot(98)
    releaseTensorInfo = try slot(99)
    releaseSessionOptions = try slot(100)
    releaseMetadata = try slot(118)
    releaseTensorRTOptions = try slot(174)
    releaseCUDAOptions = try slot(208)
  }
}

extension OnnxFunctions {
  /// Turns a status into an error, and releases it.
  func check(_ status: Status) throws {
    guard let status else { return }
    defer { releaseStatus(status) }
    throw OnnxFailure(message: String(cString: getErrorMessage(status)))
  }

  /// An object that a function of the library makes, and that is released with its owner.
  func make(
    _ release: @escaping Release, _ create: (Out) -> Status
  ) throws -> OnnxObject {
    var object: Object?
    try check(create(&object))
    guard let object else { throw OnnxFailure(message: "the library returned nothing") }
    return OnnxObject(object, release: release)
  }

  func number<Value: BinaryInteger>(
    _ read: (UnsafeMutablePointer<Value>) -> Status
  ) throws -> Value {
    var value: Value = 0
    try check(read(&value))
    return value
  }

  /// A string that the library allocated.
  func text(_ allocator: Object, _ read: (TextOut) -> Status) throws -> String {
    var text: UnsafeMutablePointer<CChar>?
    try check(read(&text))
    guard let text else { return "" }
    defer { free(text, allocator) }
    return String(cString: text)
  }

  func free(_ memory: UnsafeMutableRawPointer, _ allocator: Object) {
    // Its status is about a missing allocator, and the default one always exists.
    if let status = allocatorFree(allocator, memory) { releaseStatus(status) }
  }
}

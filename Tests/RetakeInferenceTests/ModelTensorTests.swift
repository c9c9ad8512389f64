import RetakeInference
import Testing

@Suite struct ModelTensorTests {
  @Test func `a tensor knows the type and the number of its elements`() {
    let tensor = ModelTensor(.int64([1, 2, 3, 4, 5, 6]), shape: [2, 3])
    #expect(tensor.elements.count == 6 && tensor.elements.type == .int64)
    #expect(ModelTensor(.float([7]), shape: []).shape.isEmpty)
  }
}

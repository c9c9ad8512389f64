/// Models of a few kilobytes for drawn pictures, with the sidecars that belong to them.
extension OnnxModelFile {
  /// The sides of the squares that `squares` reads, in pixels of its input of 64x48.
  private static let square: Int64 = 16

  /// Finds the reddish and the bluish squares among 4x3 squares of a picture.
  ///
  /// The score of a square is the difference of its mean red and blue, so each of these changes it:
  /// how the picture is fitted into the input, the order of the channels, their range and scale.
  package static let squares: OnnxModelFile = {
    let corners: [Float] = (0..<24).flatMap { index -> [Float] in
      let (row, column) = (index % 12 / 4, index % 4)
      return [16 * column, 16 * row, 16 * column + 16, 16 * row + 16].map { Float($0) }
    }
    let classes = (0..<24).map { Float($0 / 12) }
    return OnnxModelFile(
      inputs: [Port("images", .float, [1, 3, 48, 64])], outputs: [Port("boxes", .float, [24, 6])],
      constants: [
        Constant("colours", [1, 0, -1, -1, 0, 1] as [Float], shape: [2, 3, 1, 1]),
        Constant("corners", corners, shape: [24, 4]),
        Constant("classes", classes, shape: [24, 1]),
        Constant("column", [24, 1] as [Int64], shape: [2]),
      ],
      nodes: [
        Node(
          "AveragePool", inputs: ["images"], outputs: ["means"],
          ["kernel_shape": .integers([square, square]), "strides": .integers([square, square])]),
        Node("Conv", inputs: ["means", "colours"], outputs: ["levels"]),
        Node("Reshape", inputs: ["levels", "column"], outputs: ["scores"]),
        Node(
          "Concat", inputs: ["corners", "scores", "classes"], outputs: ["boxes"],
          ["axis": .integer(1)]),
      ])
  }()

  package static let squaresSidecar = """
    {"v": 1, "task": "detect", "input": {"scale_values": [255]},
     "output": {"decoder": "boxes-xyxy-score-class", "confidence_threshold": 0.25},
     "labels": ["face", "hand"]}
    """

  /// Tells a green mouth with its corners up from one with its corners down, in a face that fills
  /// the middle of a picture of 224x224.
  package static let mouths: OnnxModelFile = {
    // Cells of 28x28 pixels; the mouth is in the middle four columns of two rows.
    let (corners, middle) = ([34, 37, 43, 44], [42, 45, 35, 36])
    let weights = (0..<64).flatMap { cell -> [Float] in
      [corners.contains(cell) ? 1 : 0, middle.contains(cell) ? 1 : 0]
    }
    return OnnxModelFile(
      inputs: [Port("images", .float, [1, 3, 224, 224])],
      outputs: [Port("moods", .float, [1, 2])],
      constants: [
        Constant("green", [-1, 1, 0] as [Float], shape: [1, 3, 1, 1]),
        Constant("shapes", weights, shape: [64, 2]),
      ],
      nodes: [
        Node(
          "AveragePool", inputs: ["images"], outputs: ["means"],
          ["kernel_shape": .integers([28, 28]), "strides": .integers([28, 28])]),
        Node("Conv", inputs: ["means", "green"], outputs: ["greens"]),
        Node("Flatten", inputs: ["greens"], outputs: ["cells"]),
        Node("MatMul", inputs: ["cells", "shapes"], outputs: ["moods"]),
      ])
  }()

  package static let mouthsSidecar = """
    {"v": 1, "task": "classify", "input": {"scale_values": [255]},
     "output": {"decoder": "softmax", "topk": 1}, "labels": ["happy", "sad"]}
    """

  /// One tree: 10 below a heart rate of 60, else 20 or 30 by the second feature.
  package static let tree = OnnxModelFile(
    inputs: [Port("x", .float, ["batch", 2])], outputs: [Port("y", .float, ["batch", 1])],
    nodes: [
      Node(
        "TreeEnsembleRegressor", domain: "ai.onnx.ml", inputs: ["x"], outputs: ["y"],
        [
          "n_targets": .integer(1),
          "nodes_treeids": .integers([0, 0, 0, 0, 0]),
          "nodes_nodeids": .integers([0, 1, 2, 3, 4]),
          "nodes_featureids": .integers([0, 0, 1, 0, 0]),
          "nodes_values": .floats([60, 0, 0.5, 0, 0]),
          "nodes_modes": .strings(["BRANCH_LT", "LEAF", "BRANCH_LT", "LEAF", "LEAF"]),
          "nodes_truenodeids": .integers([1, 0, 3, 0, 0]),
          "nodes_falsenodeids": .integers([2, 0, 4, 0, 0]),
          "target_treeids": .integers([0, 0, 0]),
          "target_nodeids": .integers([1, 3, 4]),
          "target_ids": .integers([0, 0, 0]),
          "target_weights": .floats([10, 20, 30]),
        ])
    ])

  /// Writes the file, and its sidecar next to it.
  ///
  /// - Parameter name: Without an ending.
  @discardableResult
  package func write(_ name: String, sidecar: String, into folder: TemporaryFolder) throws -> String
  {
    try folder.write(sidecar, to: "\(name).model.json")
    return try write(to: folder.file("\(name).onnx"))
  }
}

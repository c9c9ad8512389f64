import RetakeBuffers

extension Frame {
  /// The numbers of a model's input: scaled, padded, and looked up by channel and level.
  func normalized<Number>(
    _ input: ImageInput, _ geometry: ImageGeometry, _ levels: [[Number]]
  ) -> [Number] {
    let count = input.shape.reduce(1, *)
    let resampler = FrameResampler(
      self, geometry, input.interpolation, wantsGray: input.colorSpace == .gray)
    return [Number](unsafeUninitializedCapacity: count) { numbers, initialized in
      // SAFETY: padding and picture together initialize each element of the buffer once.
      guard let base = numbers.baseAddress else { return }
      let target = ChannelTarget(base, input, geometry)
      for (channel, levels) in levels.enumerated() {
        target.pad(channel, with: levels[Int(input.padValue)])
      }
      resampler.forEachRow { row, colors in
        for (channel, levels) in levels.enumerated() {
          target.write(row, colors.channel(channel, of: input.colorSpace), levels, channel)
        }
      }
      initialized = count
    }
  }

  /// The scaled and padded picture before mean and scale.
  func picture(_ input: ImageInput, _ geometry: ImageGeometry) -> Frame {
    var shown = input
    // Packed pixels have the layout NHWC.
    (shown.layout, shown.colorSpace) = (.nhwc, .rgb)
    let resampler = FrameResampler(
      self, geometry, input.interpolation, wantsGray: input.colorSpace == .gray)
    let storage = FrameStorage.make(format: .rgb, width: input.width, height: input.height) {
      planes, strides in
      // SAFETY: a row of RGB24 has three bytes a pixel, and the plane has `height` rows.
      planes[0].initializeMemory(as: UInt8.self, repeating: input.padValue)
      guard let base = planes[0].baseAddress else { return }
      let placed = geometry.placed
      resampler.forEachRow { row, colors in
        let pixels = (base + (placed.y + row) * strides[0] + 3 * placed.x)
          .assumingMemoryBound(to: UInt8.self)
        for x in 0..<placed.width {
          pixels[3 * x] = colors.red[x]
          pixels[3 * x + 1] = colors.green[x]
          pixels[3 * x + 2] = colors.blue[x]
        }
      }
    }
    return Frame(
      id: id, timestamp: timestamp, format: .rgb, width: input.width, height: input.height,
      range: .full, storage: storage)
  }
}

extension ColorBytes {
  /// The color of a channel of the model's input.
  fileprivate func channel(_ index: Int, of space: ColorSpace) -> UnsafePointer<UInt8> {
    switch (space, index) {
    case (.rgb, 1), (.bgr, 1): UnsafePointer(green)
    case (.rgb, 2), (.bgr, 0): UnsafePointer(blue)
    default: UnsafePointer(red)
    }
  }
}

/// The places of channels in a tensor's memory.
private struct ChannelTarget<Number> {
  private let base: UnsafeMutablePointer<Number>
  private let geometry: ImageGeometry
  /// From a channel to the next.
  private let channelStep: Int
  /// From a pixel to the next of its row.
  private let pixelStep: Int

  init(_ base: UnsafeMutablePointer<Number>, _ input: ImageInput, _ geometry: ImageGeometry) {
    self.base = base
    self.geometry = geometry
    switch input.layout {
    case .nchw: (channelStep, pixelStep) = (input.width * input.height, 1)
    case .nhwc: (channelStep, pixelStep) = (1, input.colorSpace.channels)
    }
  }

  private func start(_ channel: Int, row: Int) -> UnsafeMutablePointer<Number> {
    base + channel * channelStep + row * geometry.width * pixelStep
  }

  func write(_ row: Int, _ color: UnsafePointer<UInt8>, _ levels: [Number], _ channel: Int) {
    let placed = geometry.placed
    let target = start(channel, row: placed.y + row) + placed.x * pixelStep
    let count = placed.width
    levels.withUnsafeBufferPointer { levels in
      // A level is a byte, and there are 256 of them.
      guard let levels = levels.baseAddress else { return }
      if pixelStep == 1 {
        for x in 0..<count { target[x] = levels[Int(color[x])] }
      } else {
        for x in 0..<count { target[x &* pixelStep] = levels[Int(color[x])] }
      }
    }
  }

  /// Writes all pixels of a channel that are not in the picture.
  func pad(_ channel: Int, with value: Number) {
    let placed = geometry.placed
    for row in 0..<geometry.height {
      let isOutside = row < placed.y || row >= placed.y + placed.height
      pad(channel, row, 0..<(isOutside ? geometry.width : placed.x), with: value)
      guard !isOutside else { continue }
      pad(channel, row, placed.x + placed.width..<geometry.width, with: value)
    }
  }

  private func pad(_ channel: Int, _ row: Int, _ columns: Range<Int>, with value: Number) {
    let target = start(channel, row: row)
    if pixelStep == 1 {
      (target + columns.lowerBound).initialize(repeating: value, count: columns.count)
    } else {
      for x in columns { target[x * pixelStep] = value }
    }
  }
}

import RetakeBuffers

/// The pixels that changed from one GRAY8 frame to the next, and their number in each cell.
///
/// It keeps its own copy of the last image instead of the frame, so that a decoder's buffer returns
/// to its pool at once. The copy is made in the same pass as the comparison.
struct FrameDifference: Sendable {
  private(set) var width = 0
  private(set) var height = 0
  private(set) var cell = 1
  /// Number of cells in a row of the grid.
  private(set) var columns = 0
  /// Number of changed pixels by cell, row by row.
  private(set) var counts: [UInt16] = []
  /// The last image, followed by a 1 for each changed pixel.
  private var pictures: ImageBytes?
  /// Number of changed pixels in each pixel column of the current row of cells.
  private var tally: [UInt8] = []

  /// Compares a frame with the previous one and stores it.
  ///
  /// If an allocation for an image fails, this frame's result is discarded (`FrameShortage`), and
  /// the next frame counts as the first one.
  /// - Returns: `false` if there was no image to compare with: for the first frame, or another
  ///   size.
  mutating func advance(to frame: Frame, threshold: UInt8, cell: Int) -> Bool {
    precondition(frame.format == .gray, "one sample a pixel")
    precondition((1...64).contains(cell), "a cell's columns count in 8 bits")
    let isComparable = frame.width == width && frame.height == height && cell == self.cell
    if !isComparable { prepare(width: frame.width, height: frame.height, cell: cell) }
    guard let pictures = ownImages() else {
      FrameShortage.fail(.frameMemory(width: frame.width, height: frame.height))
      self = FrameDifference()
      return false
    }
    var row = 0
    frame.forEachRow(of: 0) { samples in
      compare(samples, pictures, row: row, threshold: threshold)
      row += 1
      // The last row of cells may be lower than the others.
      if row % cell == 0 || row == height { count(cellRow: (row - 1) / cell) }
    }
    return isComparable
  }

  private mutating func prepare(width: Int, height: Int, cell: Int) {
    (self.width, self.height, self.cell) = (width, height, cell)
    columns = (width + cell - 1) / cell
    let rows = (height + cell - 1) / cell
    // Released first, so that the images of two sizes never exist at once.
    pictures = nil
    pictures = ImageBytes(count: 2 * width * height)
    tally = [UInt8](repeating: 0, count: width)
    counts = [UInt16](repeating: 0, count: columns * rows)
  }

  /// Images that are not shared with a copy of this value; nil if an allocation fails.
  private mutating func ownImages() -> ImageBytes? {
    // A copied stage shares the images. The first of the two that continues makes its own.
    if !isKnownUniquelyReferenced(&pictures) {
      pictures = pictures.flatMap { ImageBytes(copying: $0) }
    }
    return pictures
  }

  /// Processes one row: marks, counts and copies, in a loop that the compiler vectorizes.
  private mutating func compare(
    _ samples: UnsafeRawBufferPointer, _ pictures: ImageBytes, row: Int, threshold: UInt8
  ) {
    let (start, width, pixels) = (row * width, width, width * height)
    pictures.withBytes { pictures in
      tally.withUnsafeMutableBufferPointer { tally in
        // SAFETY: a visible row has `width` samples; each of the two images has `width` times
        // `height`, of which this row begins at `start`; the tally has `width`.
        guard let now = samples.baseAddress?.assumingMemoryBound(to: UInt8.self),
          let before = pictures.baseAddress.map({ $0 + start }),
          let marks = pictures.baseAddress.map({ $0 + pixels + start }),
          let sums = tally.baseAddress
        else { return }
        for x in 0..<width {
          let (a, b) = (now[x], before[x])
          let mark: UInt8 = max(a, b) &- min(a, b) >= threshold ? 1 : 0
          marks[x] = mark
          sums[x] &+= mark
          before[x] = a
        }
      }
    }
  }

  /// Adds up the tally by cells and clears it.
  private mutating func count(cellRow: Int) {
    let (start, columns, cell, width) = (cellRow * columns, columns, cell, width)
    counts.withUnsafeMutableBufferPointer { counts in
      tally.withUnsafeMutableBufferPointer { tally in
        // SAFETY: a row of cells has `columns` counts, and the last cell ends at `width`.
        guard let target = counts.baseAddress.map({ $0 + start }), let sums = tally.baseAddress
        else { return }
        for column in 0..<columns {
          var total: UInt16 = 0
          for x in column &* cell..<min(width, column &* cell &+ cell) {
            total &+= UInt16(sums[x])
          }
          target[column] = total
        }
        tally.update(repeating: 0)
      }
    }
  }

  /// A cell as a region, with the number of its changed pixels.
  func square(ofCell index: Int) -> MovingRegion {
    let (row, column) = index.quotientAndRemainder(dividingBy: columns)
    return MovingRegion(
      left: column * cell, top: row * cell, right: min(width, column * cell + cell),
      bottom: min(height, row * cell + cell), area: Int(counts[index]))
  }

  /// The tight box around the changed pixels of a cell that has some.
  func changedBox(ofCell index: Int) -> MovingRegion {
    let square = square(ofCell: index)
    // Begins inside out, so that the first changed pixel sets all four sides.
    var box = MovingRegion(
      left: square.right, top: square.bottom, right: square.left, bottom: square.top,
      area: square.area)
    let pixels = width * height
    pictures?.withBytes { pictures in
      // SAFETY: a cell's square is inside the image; its marks follow after as many pixels.
      let marks = UnsafeBufferPointer(rebasing: pictures[pixels...])
      for y in square.top..<square.bottom {
        for x in square.left..<square.right where marks[y &* width &+ x] != 0 {
          box.left = min(box.left, x)
          box.right = max(box.right, x + 1)
          box.top = min(box.top, y)
          box.bottom = max(box.bottom, y + 1)
        }
      }
    }
    return box
  }
}

import RetakeCore

/// Finds the images at the beginning of a chapter that repeat the end of the previous chapter.
enum ChapterOverlap {
  /// - Parameters:
  ///   - before: The digests of a chapter's frames, in the order of the frames; nil for a frame
  ///     whose pixels are not certain.
  ///   - after: The same of the next chapter.
  /// - Returns: the greatest number of frames that are the last of `before` and the first of
  ///   `after`; 0 if all of them have one picture, because a still camera proves nothing.
  static func frames(_ before: [Digest128?], _ after: [Digest128?]) -> Int {
    // The prefix function of Knuth, Morris and Pratt, of `after` and then of `before`.
    let count = min(before.count, after.count)
    let head = Array(after.prefix(count))
    var borders: [Int] = []
    func extended(_ border: Int, by digest: Digest128?) -> Int {
      var border = border
      while border > 0, border == head.count || head[border] != digest || digest == nil {
        border = borders[border - 1]
      }
      return border < head.count && digest != nil && head[border] == digest ? border + 1 : 0
    }
    for place in head.indices {
      borders.append(place == 0 ? 0 : extended(borders[place - 1], by: head[place]))
    }
    let found = before.suffix(count).reduce(0) { extended($0, by: $1) }
    return Set(head.prefix(found)).count > 1 ? found : 0
  }
}

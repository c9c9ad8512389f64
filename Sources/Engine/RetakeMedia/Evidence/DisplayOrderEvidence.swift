/// Finds lost reference pictures of MPEG-1, MPEG-2, MPEG-4 Part 2 and H.263 by the numbers or times
/// in their headers, which follow the order in which pictures are shown.
///
/// A bidirectional picture is shown between the last two reference pictures, and no picture refers
/// to it. So a number that is missing between two reference pictures belongs to a lost reference
/// picture, unless the stream has bidirectional pictures, of which one may be lost there without
/// harm.
struct DisplayOrderEvidence: Sendable {
  struct Picture: Hashable, Sendable {
    enum Kind: Hashable, Sendable { case intra, predicted, bidirectional }

    var kind: Kind
    /// In units that grow by one step with each picture.
    var number: Int
    /// Parts of the picture are missing.
    var isCut = false
    /// The picture refers to others, and the stream has no intra picture before it.
    var lacksStart = false
  }

  private struct Anchor: Sendable {
    var number: Int
    var damage: StreamDamage?

    mutating func inherit(_ other: StreamDamage) { damage = damage ?? other }
  }

  /// Distance of the numbers of neighboring pictures; nil while it is not known.
  private var step: Int?
  /// The last two pictures that others may refer to.
  private var earlier: Anchor?
  private var later: Anchor?
  private var learning: StepLearning?
  /// The highest number of bidirectional pictures between two references, and the number of
  /// bidirectional pictures between the last two references.
  private var betweenMost = 0
  private var betweenNow = 0
  /// Count of numbers between the last two references.
  private var gap = 0
  /// Whether the last reference refers to the reference before it.
  private var isPredicted = false

  /// Whether the stream has no bidirectional pictures that could follow.
  private let isInOrder: Bool

  /// - Parameters:
  ///   - step: nil if it is not known.
  ///   - learns: Whether the step is learned from the stream.
  ///   - isInOrder: Pictures are shown in the order in which they are decoded.
  init(step: Int?, learns: Bool = false, isInOrder: Bool) {
    (self.step, self.isInOrder) = (step, isInOrder)
    learning = learns ? StepLearning(repeatsMin: 24) : nil
  }

  /// The last picture was decoded once too often, so pictures that refer to it are wrong.
  mutating func repeatLast() { later?.inherit(.referenceMissing) }

  mutating func add(_ picture: Picture) -> PacketEvidence {
    var evidence = judge(picture)
    evidence.order = PictureOrder(number: picture.number)
    evidence.lacksStart = picture.lacksStart
    return evidence
  }

  private mutating func judge(_ picture: Picture) -> PacketEvidence {
    guard picture.kind != .bidirectional else { return addBidirectional(picture) }
    // The second field of a picture has its number.
    if let later, later.number == picture.number {
      if picture.isCut { self.later?.damage = .sliceMissing }
      return PacketEvidence(damage: self.later?.damage, isRefresh: picture.kind == .intra)
    }
    let before = closeGap()
    let distance = later.map { picture.number - $0.number }
    // Numbers never decrease within a sequence, so the picture that restarts the numbers is
    // missing.
    if let distance, distance < 0, step != nil || picture.kind == .predicted {
      later?.inherit(.referenceMissing)
    }
    gap = distance.flatMap { distance in step.map { max(0, distance / $0 - 1) } } ?? 0
    if gap > 0, isInOrder {
      later?.inherit(.referenceMissing)
      gap = 0
    }
    var damage = picture.kind == .intra ? nil : later?.damage
    if picture.lacksStart { damage = damage ?? .referenceMissing }
    if picture.isCut { damage = .sliceMissing }
    if let distance { learn(distance) }
    (earlier, later) = (later, Anchor(number: picture.number, damage: damage))
    isPredicted = picture.kind == .predicted
    return PacketEvidence(
      damage: damage, isRefresh: picture.kind == .intra, damageBefore: before)
  }

  /// - Returns: the damage of the last reference, if the stream ends here.
  mutating func finish() -> StreamDamage? { closeGap() }

  /// If there are numbers but no pictures between the last two references, a picture that the
  /// references depend on is missing. The exception is a stream with as many bidirectional pictures
  /// in a row, which may be lost without harm.
  ///
  /// - Returns: the damage of the last reference.
  private mutating func closeGap() -> StreamDamage? {
    defer { (gap, betweenNow, betweenMost) = (0, 0, max(betweenMost, betweenNow)) }
    guard gap > betweenMost, betweenNow == 0, isPredicted else { return nil }
    later?.inherit(.referenceMissing)
    return .referenceMissing
  }

  private mutating func learn(_ distance: Int) {
    learning?.add(distance)
    if learning != nil { step = learning?.step }
  }

  private mutating func addBidirectional(_ picture: Picture) -> PacketEvidence {
    betweenNow += 1
    if betweenNow == 1, let earlier { learn(picture.number - earlier.number) }
    var damage = earlier?.damage ?? later?.damage
    if let later, let earlier,
      !(earlier.number...max(earlier.number, later.number)).contains(picture.number)
    {
      damage = .referenceMissing
      // The picture that it follows is missing, and all that refer to it.
      self.later?.inherit(.referenceMissing)
    }
    if picture.lacksStart { damage = damage ?? .referenceMissing }
    if picture.isCut { damage = .sliceMissing }
    var evidence = PacketEvidence(damage: damage)
    evidence.isDisposable = true
    return evidence
  }
}

/// The order of pictures whose headers do not state the distance of their numbers.
///
/// Damage that is found while the stream is read is provisional. Only the end of the stream shows
/// the most frequent distance of pictures, and whether it is constant.
struct LearnedOrderEvidence: Sendable {
  private var order: DisplayOrderEvidence
  private struct Entry: Sendable {
    var packet: Int
    /// nil if the reference before it is lost or was decoded twice.
    var picture: DisplayOrderEvidence.Picture?
    /// The number of the bidirectional picture in the packet of a reference picture.
    var companion: Int?
    /// The reference picture has a placeholder, so a bidirectional picture was in its packet.
    var hasPlaceholder = false
  }

  private let isInOrder: Bool
  /// Pictures and losses in decode order; empty if there are too many.
  private var history: [Entry] = []
  private var isWhole = true
  /// Place of the last reference picture in the history.
  private var reference: Int?
  /// Whether the first bidirectional picture after a reference picture is in the same packet.
  var isPacked = false
  /// Whether the stream declares a constant rate.
  var isFixed = false
  /// Packets of provisional damage.
  private var named: Set<Int> = []

  /// Two hours and more.
  private static let picturesMax = 500_000
  private static let stepsMin = 6
  /// Of a stream of constant rate, no more of the distances than one in so many differ.
  private static let stepsPerLeap = 20

  init(isInOrder: Bool) {
    self.isInOrder = isInOrder
    order = DisplayOrderEvidence(step: nil, learns: true, isInOrder: isInOrder)
  }

  /// - Parameter companion: The number of the bidirectional picture in the same packet.
  mutating func add(
    _ picture: DisplayOrderEvidence.Picture, packet: Int, companion: Int? = nil
  ) -> PacketEvidence {
    keep(Entry(packet: packet, picture: picture, companion: companion))
    let evidence = order.add(picture)
    if evidence.damage != nil { named.insert(packet) }
    if evidence.damageBefore != nil { named.insert(packet - 1) }
    return evidence
  }

  mutating func repeatLast(packet: Int) {
    keep(Entry(packet: packet))
    order.repeatLast()
  }

  /// A reference picture of the packet is not decoded.
  mutating func loseReference(packet: Int) { repeatLast(packet: packet) }

  /// A picture that is not coded follows, with the number of the reference picture whose packet has
  /// a bidirectional picture, too.
  mutating func addPlaceholder(number: Int) {
    guard let reference, history.indices.contains(reference),
      history[reference].picture?.number == number
    else { return }
    history[reference].hasPlaceholder = true
  }

  private mutating func keep(_ entry: Entry) {
    guard isWhole else { return }
    if let picture = entry.picture, picture.kind != .bidirectional { reference = history.count }
    history.append(entry)
    if history.count > Self.picturesMax { (isWhole, history, reference) = (false, [], nil) }
  }

  /// - Returns: the damage by packet; nil for a packet whose provisional damage is withdrawn.
  mutating func finish() -> [Int: StreamDamage?] {
    guard isWhole else { return [:] }
    let step = step
    let gaps = isPacked || isFixed ? step.map { self.gaps(step: $0) } ?? [] : []
    var order = DisplayOrderEvidence(step: step, isInOrder: isInOrder)
    var found: [Int: StreamDamage?] = Dictionary(uniqueKeysWithValues: named.map { ($0, nil) })
    for (place, entry) in history.enumerated() {
      if entry.picture == nil || gaps.contains(place) { order.repeatLast() }
      guard let picture = entry.picture else { continue }
      let evidence = order.add(picture)
      if let damage = evidence.damage { found[entry.packet] = .some(damage) }
      if let damage = evidence.damageBefore { found[entry.packet - 1] = .some(damage) }
    }
    if let damage = order.finish(), let last = history.last { found[last.packet] = .some(damage) }
    return found
  }

  /// A reference picture, and the pictures up to the next reference picture.
  private struct Group {
    var place: Int
    var number: Int
    /// The number of the first bidirectional picture.
    var first: Int?
    /// The packet of the reference picture was cut before its bidirectional picture.
    var isCut: Bool
    /// Count of bidirectional pictures.
    var count = 0
  }

  private var groups: [Group] {
    var groups: [Group] = []
    for (place, entry) in history.enumerated() {
      guard let picture = entry.picture else { continue }
      if picture.kind != .bidirectional {
        groups.append(
          Group(
            place: place, number: picture.number, first: entry.companion,
            isCut: entry.companion == nil && entry.hasPlaceholder))
      } else if let last = groups.indices.last {
        groups[last].first = groups[last].first ?? picture.number
        groups[last].count += 1
      }
    }
    return groups
  }

  /// Reference pictures before which a reference picture is missing together with the bidirectional
  /// pictures that are shown before it. The bidirectional pictures of the next group fit between
  /// the references that are left, so only the count of missing numbers shows the loss.
  ///
  /// In a packed stream, the first bidirectional picture is not lost without its reference picture,
  /// except if its packet was cut: then a placeholder follows the reference picture.
  ///
  /// - Returns: places in the history.
  private func gaps(step: Int) -> Set<Int> {
    let groups = groups
    let countMax = groups.map(\.count).max() ?? 0
    let found = zip(groups, groups.dropFirst()).filter { earlier, group in
      let missing = (group.number - earlier.number) / step - 1
      guard missing > 0 else { return false }
      if !isPacked || group.isCut { return missing > countMax }
      return (group.first ?? group.number) - earlier.number > step
    }
    return Set(found.map(\.1.place))
  }

  /// Whether the times do not show each lost picture: in a packed stream of variable rate, and in a
  /// stream that declares no constant rate, where a reference picture and its bidirectional pictures
  /// are missing or were never there.
  var isUndecided: Bool {
    guard isWhole else { return isPacked }
    guard let step else { return isPacked && history.contains { $0.companion != nil } }
    return !isPacked && !isFixed && history.contains { $0.picture?.kind == .bidirectional }
      && !gaps(step: step).isEmpty
  }

  /// The distance of neighboring pictures; nil for a stream of variable rate.
  private var step: Int? {
    let numbers = Set(history.compactMap { $0.picture?.number }).sorted()
    var counts: [Int: Int] = [:]
    for (number, next) in zip(numbers, numbers.dropFirst()) {
      counts[next - number, default: 0] += 1
    }
    guard let most = counts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }),
      most.value >= Self.stepsMin,
      (numbers.count - 1 - most.value) * Self.stepsPerLeap <= max(numbers.count, Self.stepsPerLeap)
    else { return nil }
    return most.key
  }
}

/// Learns the distance of the numbers of neighboring pictures of a stream that does not state it.
struct StepLearning: Sendable {
  private(set) var step: Int?
  private var repeats = 0
  private var last = 0
  private var pictures = 0
  private var leaps = 0

  private let repeatsMin: Int
  /// A stream with more than one leap in this many pictures has no constant rate, so a leap does
  /// not prove a loss.
  private static let picturesPerLeap = 20

  /// - Parameter repeatsMin: Number of equal distances that make a step.
  init(repeatsMin: Int) { self.repeatsMin = repeatsMin }

  mutating func add(_ distance: Int) {
    guard distance > 0 else { return }
    pictures += 1
    repeats = distance == last ? repeats + 1 : 0
    last = distance
    if let known = step, distance != known { leaps += 1 }
    let isSteady = leaps * Self.picturesPerLeap <= max(pictures, Self.picturesPerLeap)
    if repeats >= repeatsMin, isSteady { step = distance }
    if !isSteady { step = nil }
  }
}

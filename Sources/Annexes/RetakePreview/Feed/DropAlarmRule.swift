/// When dropped frames are an alarm.
struct DropAlarmRule: Hashable, Sendable {
  /// The time that is looked at.
  var span = Duration.seconds(2)
  /// An alarm begins when at least this share of the frames of a span was dropped, in percent, and
  /// frames were dropped in at least three of the span's four quarters. So neither one drop nor one
  /// hiccup begins one.
  var beginsAtPercent = 5
  /// It ends when at most this share of the frames of a span was dropped, in percent.
  var endsAtPercent = 1

  /// 5 percent of two seconds.
  init() {}
}

package import RetakeGraph

extension StageRegistry {
  /// The kinds of stages that measure a pulse.
  package mutating func registerPulse() {
    register(Bandpass.self)
    register(Detrend.self)
    register(FindFingertip.self)
    register(HeartVariability.self)
    register(PulseRate.self)
    register(PulseSignal.self)
    register(RegionMeans.self)
    register(Resample.self)
  }
}

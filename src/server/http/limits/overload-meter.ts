/** The bound that caused a refusal. */
export type OverloadReason = 'requests' | 'event_loop' | 'connection' | 'look_ups' | 'bodies' | 'open_files' | 'accept'

/** Counts refusals due to overload. */
export interface OverloadMeter {
  refused(reason: OverloadReason): void
}

/** Counts nothing. */
export const NO_OVERLOAD_METER: OverloadMeter = { refused: () => undefined }

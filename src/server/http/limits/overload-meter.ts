/** Which bound a refusal is of. */
export type OverloadReason = 'requests' | 'event_loop' | 'connection' | 'look_ups' | 'bodies'

/** Counts what is refused because the server has too much to do. */
export interface OverloadMeter {
  refused(reason: OverloadReason): void
}

/** Counts nothing. */
export const NO_OVERLOAD_METER: OverloadMeter = { refused: () => undefined }

import type { SeatPlace } from '../../ports/leader-seat.ts'

/**
 * The seat of the only process that can open the data directory: the lock of that directory is the lock of the leader,
 * and this process makes every commit.
 */
export function createOnlyPlace(): SeatPlace {
  let listener: (() => void) | undefined
  return {
    async openSeat(onHint) {
      listener = onHint
      return {
        hold: async () => true,
        gone: new AbortController().signal,
        async leave() {
          listener = undefined
        },
      }
    },
    giveHint: () => listener?.(),
  }
}

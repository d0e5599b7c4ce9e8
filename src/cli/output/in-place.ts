import type { Sink } from './io.ts'

/** Lines of a terminal that are drawn again and again at the same place; what was there before stays above. */
export interface InPlace {
  draw(lines: readonly string[]): void
}

/**
 * Draws lines in place of those before. A line must not be wider than the terminal. Lines beyond its height are left out, since what
 * has scrolled away cannot be erased.
 */
export function createInPlace(sink: Sink): InPlace {
  let drawn = 0
  return {
    draw(lines) {
      const rowsMax = Math.max(1, sink.rows - 1)
      const shown = lines.length <= rowsMax ? lines : lines.slice(0, rowsMax)
      const erased = drawn === 0 ? '' : `\u001b[${drawn}A\u001b[0J`
      sink.write(`${erased}${shown.join('\n')}\n`)
      drawn = shown.length
    },
  }
}

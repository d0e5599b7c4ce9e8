/** `Paused after wave 2`. */
export function pausedWhere(waves: number): string {
  return waves === 0 ? 'Paused before the first wave' : `Paused after wave ${waves}`
}

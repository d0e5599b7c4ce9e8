/** The first line that a program printed; empty if it printed none. */
export function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? ''
}

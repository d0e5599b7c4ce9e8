import { harmless } from '../../output/style.ts'
import type { RejectedName } from './accept-names.ts'

/** A malicious server could fill the log with names. */
const LINES_MAX = 100
const SHOWN_CHARACTERS_MAX = 80

/** Logs each name that is left out once. */
export function createRejectionLog(log: (line: string) => void): (rejected: readonly RejectedName[]) => void {
  const logged = new Set<string>()
  return (rejected) => {
    for (const { entry, reason } of rejected) {
      if (logged.size > LINES_MAX) return
      const line = `The name ${shown(entry.name)} of ${shown(entry.address)} is left out: ${reason}.`
      if (logged.has(line)) continue
      logged.add(line)
      log(logged.size > LINES_MAX ? 'More names are left out; they are not logged.' : line)
    }
  }
}

function shown(text: string): string {
  const start = text.length > SHOWN_CHARACTERS_MAX ? `${text.slice(0, SHOWN_CHARACTERS_MAX)}…` : text
  return `"${harmless(start)}"`
}

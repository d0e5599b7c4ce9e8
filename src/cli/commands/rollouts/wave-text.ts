import { usageError } from '../../errors/cli-error.ts'
import type { Wave } from './answers.ts'

/** A share of all nodes, by the end of the wave. */
const PERCENT = /^(\d{1,3})\s*%$/
const GROUP = 'group:'

/**
 * Reads waves: `25%` is a share of all nodes, cumulative, and `group:blue` the nodes whose label update-group is blue. Throws a
 * usage error that begins with the flag; their order and number are the server's to judge.
 */
export function wavesFrom(texts: readonly string[], flag: string): readonly Wave[] {
  if (texts.length === 0) throw usageError(`${flag} names no wave`, ...WAYS)
  return texts.map((text) => waveFrom(text.trim(), flag))
}

const WAYS = [
  'Write a share of all nodes, such as 25%, or group:NAME for the nodes whose label update-group has that value.',
  'Shares are cumulative: 5%,25%,100%',
] as const

function waveFrom(text: string, flag: string): Wave {
  if (text.startsWith(GROUP) && text.length > GROUP.length) return { update_group: text.slice(GROUP.length) }
  const [, percent] = PERCENT.exec(text) ?? []
  if (percent !== undefined) return { percent: Number(percent) }
  throw usageError(`${flag} cannot be read: "${text}" is no wave`, ...meant(text), ...WAYS)
}

/** What was probably meant: a share without its sign, or the bare name of a group. */
function meant(text: string): readonly string[] {
  if (/^\d{1,3}$/.test(text)) return [`Did you mean ${text}%?`]
  return /^[A-Za-z][\w.-]*$/.test(text) ? [`Did you mean ${GROUP}${text}?`] : []
}

/** A wave as it is typed. */
export function waveText({ percent, update_group: group }: Wave): string {
  return percent === undefined ? `${GROUP}${group ?? ''}` : `${percent}%`
}
